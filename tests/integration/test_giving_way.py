"""What one session costs the others of a worker: the real engine, on a profile that would take hours."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.services.cluster import get
from tests.services.engine import CORPUS
from tests.services.hub import HubFactory
from tests.services.pair import Pair, start_pair, until

ENDLESS = CORPUS / "hlo_call_fan_2pow22.xplane.pb"
OVERVIEW = "data?tag=overview_page&host=ALL_HOSTS"


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """A session of two hosts; what is made of operations would take hours for either."""
    made = tmp_path / "endless"
    made.mkdir()
    for host in ("a", "b"):
        shutil.copyfile(ENDLESS, made / f"{host}.xplane.pb")
    return made


def phase(base: str, route: str) -> str:
    return str(json.loads(get(f"{base}/progress/{route}").body).get("phase"))


def converting(base: str, routes: Iterable[str]) -> int:
    """How many of the answers have a slot."""
    return [phase(base, route) for route in routes].count("convert")


def outcomes(pair: Pair, outcome: str) -> int:
    """How many runs of the engine on profiles have ended like this."""
    text = get(f"{pair.worker.url}/metrics").body.decode()
    pattern = (
        rf'^xprof_hub_conversions_total{{outcome="{outcome}",source="profile",tool="\w+"}} (\S+)$'
    )
    return sum(int(float(count)) for count in re.findall(pattern, text, re.M))


def test_a_prewarm_that_has_the_only_slot_gives_way_and_begins_anew(
    hubs: HubFactory, tmp_path: Path, endless: Path, small_session: Path
) -> None:
    pair = start_pair(
        hubs,
        tmp_path,
        XPROF_HUB_PREWARM="true",
        XPROF_HUB_CONVERSIONS="1",
        XPROF_HUB_PREWARM_BYTES="8000",
    )
    ahead = pair.share(endless, "ahead")
    until(lambda: phase(ahead, OVERVIEW) == "convert")
    person = pair.share(small_session, "person")
    assert get(f"{person}/{OVERVIEW}").status == 200
    until(lambda: outcomes(pair, "cancelled") == 1)
    until(lambda: phase(ahead, OVERVIEW) == "convert")
    assert outcomes(pair, "cancelled") == 1


def test_a_session_that_holds_all_slots_for_hours_leaves_one_to_others(
    hubs: HubFactory, tmp_path: Path, endless: Path, small_session: Path
) -> None:
    pair = start_pair(hubs, tmp_path, XPROF_HUB_CONVERSIONS="2")
    hanging, person = pair.share(endless, "hanging"), pair.share(small_session, "person")
    routes = [OVERVIEW, *(f"data?tag=op_profile&host={host}" for host in ("a", "b"))]
    for route in routes:
        assert get(f"{hanging}/{route}", {"Prefer": "respond-async"}).status == 202
    until(lambda: converting(hanging, routes) == 2)
    assert get(f"{person}/{OVERVIEW}").status == 200
    # A worker without a processor to spare may be late with what it says of this.
    until(lambda: converting(hanging, routes) == 2)


def test_a_tool_that_takes_too_long_is_not_tried_with_other_options(
    hubs: HubFactory, tmp_path: Path, endless: Path
) -> None:
    pair = start_pair(hubs, tmp_path, XPROF_HUB_CONVERSION_SECONDS="4")
    base = pair.share(endless, "endless")
    groups = ["program", "category", "provenance"]
    asked = [f"{base}/data?tag=op_profile&host=a&group_by={group}" for group in groups]
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(get, asked))
    assert [answer.status for answer in answers] == [504] * 3
    assert outcomes(pair, "timed_out") == 1
    # The profile's other tools are as usable as before.
    assert get(f"{base}/data?tag=memory_profile&host=a").status == 200
