"""Whether what a request may see is redacted, and with which pseudonyms.

Links can be; somebody who has signed in sees profiles as they are.
"""

from __future__ import annotations

from loader.redaction.pseudonyms import Pseudonyms
from server.links.grants import SessionGrant
from server.services import Services
from server.xprof.tool_answers import ToolAnswers


def redaction_of(services: Services, grant: SessionGrant) -> str:
    """What `ToolRequest.redaction` is under this grant; empty unless its link is redacted."""
    return Pseudonyms(services.settings.secret_key).mark if grant.is_redacted else ""


def answers_for(services: Services, grant: SessionGrant) -> ToolAnswers:
    """Answers as the grant allows to see them."""
    return ToolAnswers(services, redaction_of(services, grant))
