"""Runs as JSON, shared by the routes and the client."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, ConfigDict, Field, StringConstraints

from server.registry.records import RunState
from server.schemas.base import (
    ApiModel,
    Deletable,
    JsonObject,
    Labels,
    Line,
    Prose,
    SortedListParameters,
)


class Attempt(ApiModel):
    """One try of a job to finish a run."""

    number: int
    """From 1."""
    state: RunState
    start_time: AwareDatetime
    end_time: AwareDatetime | None = None


class Run(Deletable):
    """A machine learning run."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "displayName": "llama 8B, batch 64",
                "labels": {"team": "perf"},
                "runSet": "llama",
                "configs": {"userConfigs": {"batch": "64"}},
                "artifacts": {"gcsPath": "gs://my-bucket/runs/llama-8b"},
                "workload": {"orchestrator": "GKE", "clusterId": "cluster-1"},
                "storageRoot": "gs://my-bucket/runs",
            }
        }
    )

    display_name: Line = ""
    labels: Labels = Field(default_factory=dict)
    run_set: Line = ""
    configs: JsonObject = Field(default_factory=dict)
    artifacts: JsonObject = Field(default_factory=dict)
    tools: Annotated[list[JsonObject], Field(max_length=64)] = Field(default_factory=list)
    """What watches the job."""
    workload: JsonObject = Field(default_factory=dict)
    """The orchestrator, and what it says of the job. Its `state`, as Google's SDK sends it, is the run's."""
    storage_root: Line = ""
    """Where the job writes: its profiles lie at `<storageRoot>/<run>/plugins/profile/<session>/`."""
    note: Prose = ""
    """What people wrote about it."""
    state: RunState | None = None
    """`ACTIVE`, `COMPLETED`, `FAILED`, or `LOST`: nobody has heard of the job for long."""
    end_time: AwareDatetime | None = None
    """Server-set: when the newest attempt ended."""
    last_seen_time: AwareDatetime | None = None
    """Server-set: last sign of life of the job."""
    attempts: list[Attempt] | None = None
    """Server-set: the newest 100 tries of the job, the first one first; empty unless a job told of itself."""
    warnings: list[str] | None = None
    """Server-set: what could not be taken as it was sent, or is odd."""
    session_count: int | None = None
    """Server-set: how many sessions it has."""


class RunList(ApiModel):
    """A page of runs."""

    machine_learning_runs: list[Run] = Field(default_factory=list)
    next_page_token: str = ""


class RunListParameters(SortedListParameters):
    """Which page of which runs."""

    filter: Annotated[str, StringConstraints(max_length=2000)] = ""
    """Which runs, after AIP-160, as in `runSet = "llama" AND (state = ACTIVE OR labels.team = "perf")`."""
    show_deleted: bool = False
    """Whether those are listed too that were deleted and can come back."""
