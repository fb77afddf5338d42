"""Queries on programs that wait to be let in. Each function is one transaction; no long code comes here."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import delete, func, select, update
from sqlalchemy.exc import IntegrityError

from auth.device_codes import DeviceRequest, DeviceState
from server.registry.database import Database
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.models import DeviceCodeRow

MOST_WAITING = 20_000
"""Requests at one time, of all networks together; how many one may make is `server.limits`' matter."""


class TooManyWaitingError(Exception):
    """No further program can wait now."""


def add_device_request(
    database: Database, request: DeviceRequest, digest: str, now: datetime
) -> None:
    """Keeps a request under the digest of its long code, and removes those that are over.

    Raises:
        TooManyWaitingError: there are as many as there may be.
        RegistryError: ALREADY_EXISTS, another one has the same short code.
    """
    try:
        with database.writing() as session:
            session.execute(delete(DeviceCodeRow).where(DeviceCodeRow.expires <= now))
            if (session.scalar(select(func.count(DeviceCodeRow.key))) or 0) >= MOST_WAITING:
                raise TooManyWaitingError
            session.add(
                DeviceCodeRow(
                    code_hash=digest,
                    user_code=request.user_code,
                    client=request.client,
                    expires=request.expires,
                    state=request.state.value,
                    token_id=request.token_id,
                )
            )
    except IntegrityError as error:
        message = "This code is in use."
        raise RegistryError(RegistryProblem.ALREADY_EXISTS, message) from error


def find_device_request(database: Database, user_code: str, now: datetime) -> DeviceRequest | None:
    """The request of a short code that its person has yet to decide on."""
    with database.reading() as session:
        row = session.scalar(
            select(DeviceCodeRow).where(
                DeviceCodeRow.user_code == user_code,
                DeviceCodeRow.state == DeviceState.WAITING.value,
                DeviceCodeRow.expires > now,
            )
        )
        return _record(row) if row else None


def decide_device_request(
    database: Database, user_code: str, state: DeviceState, token_id: str, now: datetime
) -> bool:
    """Notes what its person said of a request; False when there is nothing (more) to decide."""
    with database.writing() as session:
        decided = session.scalar(
            update(DeviceCodeRow)
            .where(
                DeviceCodeRow.user_code == user_code,
                DeviceCodeRow.state == DeviceState.WAITING.value,
                DeviceCodeRow.expires > now,
            )
            .values(state=state.value, token_id=token_id)
            .returning(DeviceCodeRow.key)
        )
        return decided is not None


def take_device_request(database: Database, digest: str, now: datetime) -> DeviceRequest | None:
    """The request of a long code; one that was decided on is removed, so it is told to one caller only."""
    with database.writing() as session:
        row = session.scalar(
            delete(DeviceCodeRow)
            .where(
                DeviceCodeRow.code_hash == digest,
                DeviceCodeRow.state != DeviceState.WAITING.value,
                DeviceCodeRow.expires > now,
            )
            .returning(DeviceCodeRow)
        )
        if row is None:
            row = session.scalar(
                select(DeviceCodeRow).where(
                    DeviceCodeRow.code_hash == digest, DeviceCodeRow.expires > now
                )
            )
        return _record(row) if row else None


def _record(row: DeviceCodeRow) -> DeviceRequest:
    return DeviceRequest(
        row.user_code, row.client, row.expires, DeviceState(row.state), row.token_id
    )
