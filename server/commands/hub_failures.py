"""How commands that work where a hub runs say that its storage or its registry did not allow it.

Loads the database's library, which the command line itself does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.exc import SQLAlchemyError

from loader.errors import LoaderError
from server.commands.exits import ExitStatus
from server.commands.tables import say
from server.registry.errors import RegistryUnusableError

Done = TypeVar("Done")


def done_where_a_hub_runs(work: Callable[[], Done]) -> Done | ExitStatus:
    """What the work returns; or the exit status, once it is said why storage or registry did not allow it."""
    try:
        return work()
    except LoaderError as problem:
        say(f"xprof-hub: {problem.message}")
        return ExitStatus.FAILED
    except RegistryUnusableError as problem:
        say(f"xprof-hub: {problem}")
        return ExitStatus.FAILED
    except SQLAlchemyError as problem:
        # The driver's own message may repeat the address with its password.
        say(f"xprof-hub: the registry's database does not answer ({type(problem).__name__}).")
        return ExitStatus.UNREACHABLE
