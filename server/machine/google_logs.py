"""Log lines as Google's Cloud Logging reads them: its names for severity, time, trace and request.

https://docs.cloud.google.com/logging/docs/structured-logging and LogEntry's HttpRequest. All else of a line
stays as it is, and becomes the entry's payload.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping

from loader.traces import current_trace

_PREFIX = "logging.googleapis.com"


class GoogleFields:
    """A processor of log events.

    Args:
        project: id of the project that holds the traces.
    """

    def __init__(self, project: str) -> None:
        self._project = project

    def __call__(
        self, _logger: object, _method: str, event: MutableMapping[str, object]
    ) -> MutableMapping[str, object]:
        """Renames and adds fields."""
        event["severity"] = str(event.pop("level", "default")).upper()
        event["message"] = event.pop("event", "")
        if "timestamp" in event:
            event["time"] = event.pop("timestamp")
        trace = current_trace()
        if trace is not None:
            event[f"{_PREFIX}/trace"] = f"projects/{self._project}/traces/{trace.trace_id}"
            event[f"{_PREFIX}/spanId"] = trace.span_id
            event[f"{_PREFIX}/trace_sampled"] = trace.is_sampled
        if {"method", "path", "status", "milliseconds"} <= event.keys():
            event["httpRequest"] = _http_request(event)
        return event


def _http_request(event: Mapping[str, object]) -> dict[str, object]:
    """The request of an access line, whose path has lost its token and query already."""
    return {
        "requestMethod": event["method"],
        "requestUrl": event["path"],
        "status": event["status"],
        "latency": f"{float(str(event['milliseconds'])) / 1000:.3f}s",
    }
