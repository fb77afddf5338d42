"""`/v1/operations`: what became of the changes of the last day that clients may ask for later.

The API's own changes answer with what they made, so these are those of the managed API (`/v1alpha`), for
people who want to know what a client asked for. They are read here and nothing else.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query

from auth.identity import Principal
from auth.policy import Action
from server.callers.access import api_router, require
from server.http.aip import next_page_token, page_request
from server.names import operation_name
from server.registry import operations, records
from server.schemas import ListParameters, Operation, OperationList, ResourceId
from server.services import ServicesDependency

router = api_router("/v1/operations", "operations")

Reader = Annotated[Principal, Depends(require(Action.OPERATIONS_READ))]
_CONTEXT = ("operations",)


@router.get("", response_model_exclude_none=True)
def list_operations(
    services: ServicesDependency,
    _principal: Reader,
    parameters: Annotated[ListParameters, Query()],
) -> OperationList:
    """Lists operations of all locations, newest first."""
    wanted = page_request(
        size=parameters.page_size,
        token=parameters.page_token,
        order_by="",
        sortable={},
        context=_CONTEXT,
    )
    page = operations.list_operations(services.database, None, wanted)
    return OperationList(
        operations=[to_resource(operation) for operation in page.records],
        next_page_token=next_page_token(page.next, wanted, _CONTEXT),
    )


@router.get("/{operation}", response_model_exclude_none=True)
def get_operation(
    services: ServicesDependency, _principal: Reader, operation: ResourceId
) -> Operation:
    """Answers one operation."""
    return to_resource(operations.get_operation(services.database, None, operation))


def to_resource(operation: records.Operation) -> Operation:
    """An operation as the API shows it."""
    return Operation(
        name=operation_name(operation.id),
        parent=operation.parent,
        verb=operation.verb,
        target=operation.target,
        create_time=operation.created,
    )
