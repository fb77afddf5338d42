"""Whom a front end believes: no redirect leads credentials away, no profile's failure costs it a worker."""

from __future__ import annotations

import pytest

from loader.errors import ErrorCode, LoaderError
from server.fleet.addresses import WorkerAddresses
from server.fleet.workers import Workers
from server.http.error_table import status_of
from tests.unit.test_worker_identity import Platform
from tests.worker_servers import GOOD, REQUEST, error, failure_of, http, run, two_servers


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_answer_sends_credential_and_identity_to_another_address(status: int) -> None:
    async def test() -> None:
        async with two_servers() as setup:
            worker, elsewhere = setup.large, setup.servers
            for other in elsewhere.values():
                other.answer = GOOD
            (url, *_) = elsewhere
            # One that was redirected to answers; if it were asked, the answer would be there.
            redirect = http(status, b"").replace(
                b"\r\n\r\n", f"\r\nLocation: {url}/\r\n\r\n".encode()
            )
            worker.answer = redirect
            workers = Workers(
                WorkerAddresses([worker.url]),
                "credential",
                0.3,
                lambda: None,
                identity=Platform().tokens(),
            )
            with pytest.raises(LoaderError):
                await workers.get(REQUEST)
            await workers.aclose()
            assert worker.asked >= 1
            assert [other.asked for other in elsewhere.values()] == [0, 0]

    run(test)


def test_no_failure_of_a_profile_passes_a_worker_over() -> None:
    """Else one session that fails in every way would turn all workers away from everybody."""

    async def test() -> None:
        ejected: list[str] = []
        async with two_servers() as setup:
            first, _ = await setup.rank()
            addresses = WorkerAddresses([first.url], on_eject=ejected.append)
            setup.workers = Workers(addresses, "credential", 30.0, lambda: None)
            for number, code in enumerate(ErrorCode, 1):
                first.answer = error(status_of(code), code)
                assert await failure_of(setup) is code
                assert first.asked == number
            # For want of room on its disk it is passed over for this session alone.
            assert ejected == ["full"]
            assert addresses._full.keys() == {(first.url, REQUEST.locations[0])}
            assert not addresses.is_ejected(first.url)

    run(test)
