"""Signing in without a token at hand: a person allows it in a browser."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

from server.client.errors import HubError, UnreachableError
from server.client.transport import Call, Transport
from server.schemas import CreatedToken
from server.schemas.device_codes import DeviceCode, DeviceExchange, NewDeviceCode

_PATH = "/deviceCodes"
_PENDING = "authorization_pending"


class DeviceCodes:
    """Begins and ends such a signing in; every method raises `HubError`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def begin(self, client: str) -> DeviceCode:
        """Asks for the codes.

        Args:
            client: where the program runs, for the person who lets it in.
        """
        body = NewDeviceCode(display_name=client)
        return self._transport.send(Call("POST", _PATH, body=body), DeviceCode)

    def wait(
        self, code: DeviceCode, *, sleep: Callable[[float], None] = time.sleep
    ) -> CreatedToken:
        """Waits until the person has allowed it, and answers the token.

        Raises:
            HubError: it was refused (`access_denied`), or ten minutes are over (`expired_token`).
        """
        body = DeviceExchange(device_code=code.device_code)
        while True:
            try:
                return self._transport.send(
                    Call("POST", f"{_PATH}:exchange", body=body), CreatedToken
                )
            except UnreachableError:
                # It may be starting anew; the code's own time bounds this.
                if datetime.now(UTC) >= code.expire_time:
                    raise
            except HubError as problem:
                if problem.reason != _PENDING:
                    raise
            sleep(code.interval_seconds)
