"""Prices, and what a month costs. A price list changes: look at it again before you rely on a sum.

United States, us-central1, US dollars, without discounts and free quotas; noted on 2026-11-30.
"""

from __future__ import annotations

from dataclasses import dataclass

DAYS_OF_MONTH = 30.4
HOURS_OF_MONTH = DAYS_OF_MONTH * 24
_LIST = "Google's price list, a stored copy"
_KNOWN = "list price as remembered, not looked up"


@dataclass(frozen=True)
class Price:
    """What one unit costs.

    Attributes:
        name: of what.
        dollars: for one unit.
        unit: of it.
        source: where the number is from.
    """

    name: str
    dollars: float
    unit: str
    source: str


RUN_CPU = Price("Cloud Run, billed by instance: processor", 0.000018, "vCPU s", _LIST)
RUN_MEMORY = Price("Cloud Run, billed by instance: memory", 0.000002, "GiB s", _LIST)
POD_CPU = Price("GKE Autopilot: processor", 0.0445, "vCPU h", _KNOWN)
POD_MEMORY = Price("GKE Autopilot: memory", 0.0049225, "GiB h", _KNOWN)
CLUSTER = Price("GKE: a cluster", 0.10, "h", _LIST)
REDIS = Price("Memorystore for Redis, basic", 0.049, "GiB h", _KNOWN)
SQL_CPU = Price("Cloud SQL Enterprise: processor", 0.0413, "vCPU h", "a report of May 2026")
SQL_MEMORY = Price("Cloud SQL Enterprise: memory", 0.007, "GiB h", "a report of May 2026")
STORAGE = Price("Cloud Storage, standard", 0.020, "GB month", _KNOWN)
BALANCER = Price("load balancer: forwarding rules", 0.025, "h", _KNOWN)
EGRESS = Price("bytes to the internet", 0.12, "GB", "a report of 2026")

PRICES = (
    RUN_CPU,
    RUN_MEMORY,
    POD_CPU,
    POD_MEMORY,
    CLUSTER,
    REDIS,
    SQL_CPU,
    SQL_MEMORY,
    STORAGE,
    BALANCER,
    EGRESS,
)


@dataclass(frozen=True)
class Bill:
    """Dollars of a month.

    Attributes:
        compute: front ends and workers.
        stores: Redis and PostgreSQL.
        storage: profiles and artifacts in buckets.
        network: load balancer and bytes to people.
        fixed: a cluster.
    """

    compute: float
    stores: float
    storage: float
    network: float
    fixed: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.compute + self.stores + self.storage + self.network + self.fixed


def compute_dollars(is_run: bool, cores: float, gib: float, seconds: float) -> float:
    """What instances cost that were there for so many seconds together.

    Args:
        is_run: on Cloud Run; else as pods.
        cores: of one instance.
        gib: memory of one instance.
        seconds: instance-seconds.
    """
    if is_run:
        return seconds * (cores * RUN_CPU.dollars + gib * RUN_MEMORY.dollars)
    return seconds / 3600 * (cores * POD_CPU.dollars + gib * POD_MEMORY.dollars)


def stores_dollars(redis_gib: float, sql_cores: float, sql_gib: float) -> float:
    """A month of one Redis and one PostgreSQL."""
    hourly = redis_gib * REDIS.dollars + sql_cores * SQL_CPU.dollars + sql_gib * SQL_MEMORY.dollars
    return hourly * HOURS_OF_MONTH
