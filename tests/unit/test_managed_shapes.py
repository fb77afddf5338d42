"""How messages of the managed API are read: both spellings, enums as names and numbers, maps left alone."""

from __future__ import annotations

import pytest

from server.http.errors import ApiError
from server.managed.shapes import RUN, SESSION, read_message
from server.registry.records import Json


def test_both_spellings_are_one() -> None:
    snake = read_message(
        {
            "display_name": "x",
            "run_set": "s",
            "artifacts": {"gcs_path": "gs://b"},
            "workload_details": {
                "gke": {"parent_workload": "w"},
                "targets": [{"display_name": "h", "instance_id": "1"}],
            },
        },
        RUN,
    )
    assert snake == {
        "displayName": "x",
        "runSet": "s",
        "artifacts": {"gcsPath": "gs://b"},
        "workloadDetails": {
            "gke": {"parentWorkload": "w"},
            "targets": [{"displayName": "h", "instanceId": "1"}],
        },
    }
    assert read_message(snake, RUN) == snake


def test_keys_of_maps_are_the_clients_own() -> None:
    sent: dict[str, Json] = {
        "labels": {"created_by": "x", "runPhase": "y"},
        "configs": {"user_configs": {"display_name": "1"}, "softwareConfigs": {"xla_flags": "-"}},
    }
    assert read_message(sent, RUN) == {
        "labels": {"created_by": "x", "runPhase": "y"},
        "configs": {"userConfigs": {"display_name": "1"}, "softwareConfigs": {"xla_flags": "-"}},
    }
    session = read_message({"target_sessions": {"my_host": {"start_time": "t"}}}, SESSION)
    assert session == {"targetSessions": {"my_host": {"startTime": "t"}}}


@pytest.mark.parametrize(
    ("field", "number", "name"),
    [
        ("runPhase", 1, "ACTIVE"),
        ("runPhase", 2, "COMPLETED"),
        ("runPhase", 3, "FAILED"),
        ("orchestrator", 1, "GCE"),
        ("orchestrator", 2, "GKE"),
        ("orchestrator", 3, "SLURM"),
        ("state", 2, "STATE_COMPLETED"),
    ],
)
def test_enums_of_runs_have_the_numbers_of_their_description(
    field: str, number: int, name: str
) -> None:
    assert read_message({field: number}, RUN) == {field: name}
    assert read_message({field: name}, RUN) == {field: name}


@pytest.mark.parametrize(
    ("field", "number", "name"),
    [
        ("kind", 1, "KIND_ON_DEMAND"),
        ("kind", 2, "KIND_PROGRAMMATIC"),
        ("kind", 3, "KIND_SCANNED"),
        ("hostTracerLevel", 3, "HOST_TRACER_LEVEL_INFO"),
        ("deviceTracerLevel", 2, "DEVICE_TRACER_LEVEL_ENABLED"),
        ("pythonTracerLevel", 1, "PYTHON_TRACER_LEVEL_DISABLED"),
    ],
)
def test_enums_of_sessions_have_the_numbers_of_their_description(
    field: str, number: int, name: str
) -> None:
    assert read_message({field: number}, SESSION) == {field: name}


def test_what_is_newer_than_we_are_is_kept() -> None:
    sent: dict[str, Json] = {
        "orchestrator": "CUSTOM",
        "runPhase": 9,
        "new_field": {"some_key": [1]},
    }
    assert read_message(sent, RUN) == sent


def test_null_is_absent() -> None:
    sent: dict[str, Json] = {
        "runSet": None,
        "workloadDetails": {"targets": [{"hostname": "h", "zone": None}]},
    }
    assert read_message(sent, RUN) == {"workloadDetails": {"targets": [{"hostname": "h"}]}}


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"runPhase": True}, "runPhase"),
        ({"run_phase": 1.5}, "runPhase"),
        ({"tools": {}}, "tools"),
        ({"artifacts": "gs://b"}, "artifacts"),
        ({"workloadDetails": {"targets": ["h"]}}, "workloadDetails.targets[0]"),
        ({"tools": [{"xprof": 1}]}, "tools[0].xprof"),
    ],
)
def test_other_kinds_of_values_are_refused_by_name(sent: dict[str, Json], field: str) -> None:
    with pytest.raises(ApiError) as refused:
        read_message(sent, RUN)
    assert refused.value.details[0]["field"] == field
