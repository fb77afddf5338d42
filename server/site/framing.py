"""What stands around the pages of somebody who has signed in: their name, and what they may do at all."""

from __future__ import annotations

from auth.policy import Action, collections_of, may
from server.callers.signed_in import Person
from server.services import Services
from server.ui.site import Frame


def frame_of(services: Services, person: Person) -> Frame:
    """What stands around a page that this person looks at."""
    rights = (
        action.value
        for action in Action
        if any(may(person.principal, action, name) for name in collections_of(action))
    )
    return Frame(
        prefix=services.settings.path_prefix,
        assets=services.assets.hub.path,
        person=person.principal.name,
        role=person.principal.role.value,
        has_signed_in=person.has_signed_in,
        rights=frozenset(rights),
    )
