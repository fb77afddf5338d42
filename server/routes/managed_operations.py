"""`/v1alpha/…/operations`: what became of changes, for a day. Each was done before it was answered."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query

from server.audit.notes import note_unchanged
from server.http.aip import next_page_token, page_request
from server.managed.access import (
    Parameters,
    PlaceDependency,
    RunLister,
    RunReader,
    RunRegistrar,
    RunWriter,
    managed_router,
)
from server.managed.lookups import target_message
from server.managed.names import Place
from server.managed.operations import operation_message
from server.registry.operations import delete_operation, get_operation, list_operations
from server.registry.records import Json
from server.schemas import ResourceId
from server.services import Services, ServicesDependency
from server.site.public_address import PageBase

router = managed_router("/operations")

_CHANGES_NOTHING = [Depends(note_unchanged)]


class ListParameters(Parameters):
    """Which page of the operations."""

    page_size: int = 0
    page_token: str = ""


@router.get("", response_model=None)
def list_all(
    services: ServicesDependency,
    _principal: RunLister,
    place: PlaceDependency,
    parameters: Annotated[ListParameters, Query()],
) -> dict[str, Json]:
    """Lists the operations of a location, newest first; their resources by name only."""
    context = ("managed operations", place.name)
    request = page_request(
        size=parameters.page_size,
        token=parameters.page_token,
        order_by="",
        sortable={},
        context=context,
    )
    page = list_operations(services.database, place.name, request)
    return {
        "operations": [operation_message(one, None) for one in page.records],
        "nextPageToken": next_page_token(page.next, request, context),
    }


@router.get("/{operation}", response_model=None)
def get(
    services: ServicesDependency,
    _principal: RunReader,
    place: PlaceDependency,
    base: PageBase,
    operation: ResourceId,
) -> dict[str, Json]:
    """Answers one operation, with its resource as it is now."""
    return _found(services, place, operation, base)


@router.post("/{operation}:wait", response_model=None, dependencies=_CHANGES_NOTHING)
def wait(
    services: ServicesDependency,
    _principal: RunReader,
    place: PlaceDependency,
    base: PageBase,
    operation: ResourceId,
) -> dict[str, Json]:
    """The same: there is nothing to wait for."""
    return _found(services, place, operation, base)


@router.post("/{operation}:cancel", response_model=None, dependencies=_CHANGES_NOTHING)
def cancel(
    services: ServicesDependency,
    _principal: RunRegistrar,
    place: PlaceDependency,
    operation: ResourceId,
) -> dict[str, Json]:
    """Stops nothing: it is done."""
    get_operation(services.database, place.name, operation)
    return {}


@router.delete("/{operation}", response_model=None)
def delete(
    services: ServicesDependency,
    _principal: RunWriter,
    place: PlaceDependency,
    operation: ResourceId,
) -> dict[str, Json]:
    """Forgets an operation; what it did stays."""
    delete_operation(services.database, place.name, operation)
    return {}


def _found(services: Services, place: Place, operation: str, base: str) -> dict[str, Json]:
    found = get_operation(services.database, place.name, operation)
    return operation_message(found, target_message(services.database, found.target, base))
