"""Schemathesis sends what the OpenAPI document allows, and what it forbids: no answer is unexpected.

Every operation is tried with ids of things that are there, and with made-up ones. What an answer may be is
read from the document: its status, its type, its headers and its shape.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import CheckContext, not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.core.transport import Response
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from tests.contract.api_calls import new_session
from tests.services.api import Api, api_settings, serve_api

Operation: TypeAlias = APIOperation[Any, Any, Any, Any]
Check: TypeAlias = Callable[[CheckContext, Response, Case[Any]], bool | None]
EXAMPLES = int(os.environ.get("XPROF_HUB_TEST_EXAMPLES", "6"))
"""For each operation, of either kind; raise it to look for more."""
UNHELPFUL = (positive_data_acceptance,)
"""A value that fits its schema may still name nothing, or what is there already."""
ON_PURPOSE = {
    # No worker runs here, which is what the answer says; its status is in the document.
    ("GET", "/v1/machineLearningRuns/{run}/profilerSessions/{session}/health"): not_a_server_error,
    # A job never suffers for what it sends: docs/adr/027-jobs.md.
    ("PATCH", "/v1/machineLearningRuns"): negative_data_rejection,
}
"""Checks that an operation breaks, and is meant to."""
LONGEST_ADDRESS = 3000
"""Characters, before they are percent-encoded."""
KNOWN = {"run": "r", "session": "s", "host": "vm"}
"""Ids of things that are there."""


@pytest.fixture(scope="module")
def fuzzed_api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A development server of this module's own, which the requests fill with whatever they make."""
    with serve_api(api_settings(tmp_path_factory.mktemp("fuzzed"))) as api:
        new_session(api)
        yield api


def named(case: Case[Any], at_known: bool) -> Case[Any]:
    """The request as it is, or at what is there."""
    if at_known and case.method != "DELETE":
        found = {name: KNOWN.get(name, value) for name, value in case.path_parameters.items()}
        case.path_parameters = found
    return case


def can_be_violated(operation: Operation) -> bool:
    """Whether the document demands anything of a request; any text may stand in a path."""
    return bool(list(operation.query) or list(operation.body))


def requests_to(operation: Operation, mode: GenerationMode) -> Callable[[], None]:
    """Sends requests of one kind to an operation, and checks what it answers."""
    on_purpose = ON_PURPOSE.get((operation.method.upper(), operation.path))
    excluded: list[Check] = [*UNHELPFUL, *([on_purpose] if on_purpose else [])]

    @given(case=operation.as_strategy(generation_mode=mode), at_known=st.booleans())
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def send(case: Case[Any], at_known: bool) -> None:
        # A longer address than HTTP servers take never reaches us.
        if len(str(case.query)) + len(str(case.path_parameters)) > LONGEST_ADDRESS:
            return
        named(case, at_known).call_and_validate(excluded_checks=excluded)

    return send


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=str)
def test_no_answer_is_unexpected(fuzzed_api: Api, mode: GenerationMode) -> None:
    schema = schemathesis.openapi.from_url(f"{fuzzed_api.url}/openapi.json")
    failures: list[Exception] = []
    tried = 0
    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()
        if mode is GenerationMode.NEGATIVE and not can_be_violated(operation):
            continue
        try:
            requests_to(operation, mode)()
        except Exception as failure:  # noqa: BLE001 - all of them are shown together
            failures.append(failure)
        tried += 1
    assert tried > 20
    if failures:
        raise ExceptionGroup("unexpected answers", failures)
