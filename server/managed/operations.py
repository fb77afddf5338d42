"""Long-running operations in the managed API's shape. All of ours are done when they are answered."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from server.managed.names import managed_operation_name
from server.managed.run_values import timestamp
from server.registry.database import Database
from server.registry.operations import add_operation
from server.registry.records import Json, Operation

KEPT = timedelta(days=1)
"""How long an operation can be asked for."""
_TYPES = "type.googleapis.com/google.cloud.hypercomputecluster.v1alpha."
_EMPTY = "type.googleapis.com/google.protobuf.Empty"


def finish(database: Database, parent: str, verb: str, target: str) -> Operation:
    """Notes a change that was made.

    Args:
        database: the registry.
        parent: resource name of the location.
        verb: `create`, `update` or `delete`.
        target: resource name of what was changed.
    """
    now = datetime.now(UTC)
    return add_operation(
        database, parent=parent, verb=verb, target=target, now=now, forget_before=now - KEPT
    )


def operation_message(operation: Operation, target: dict[str, Json] | None) -> dict[str, Json]:
    """An operation as the managed API shows it.

    Args:
        operation: what the registry knows.
        target: the resource as it is now; None to name it only, or if there is none any more.
    """
    shown: dict[str, Json] = {
        "name": managed_operation_name(operation.parent, operation.id),
        "metadata": {
            "@type": f"{_TYPES}OperationMetadata",
            "createTime": timestamp(operation.created),
            "endTime": timestamp(operation.created),
            "target": operation.target,
            "verb": operation.verb,
            "apiVersion": "v1alpha",
        },
        "done": True,
    }
    if operation.verb == "delete":
        return {**shown, "response": {"@type": _EMPTY}}
    kind = "ProfilerSession" if "/profilerSessions/" in operation.target else "MachineLearningRun"
    found = target if target is not None else {"name": operation.target}
    return {**shown, "response": {"@type": f"{_TYPES}{kind}", **found}}
