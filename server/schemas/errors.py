"""The body of every answer that is not a success."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from server.schemas.base import ApiModel


class Error(ApiModel):
    """What went wrong (AIP-193)."""

    code: int
    """HTTP status."""
    status: str
    """Canonical name of the error."""
    message: str
    """One sentence for a person."""
    details: list[dict[str, str]] = Field(default_factory=list)
    """Particulars for a program: `field` and `description`, or `reason` and `file`."""


class ErrorResponse(ApiModel):
    """The body of every answer that is not a success."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "error": {
                    "code": 400,
                    "status": "INVALID_ARGUMENT",
                    "message": "displayNam: There is no such field.",
                    "details": [{"field": "displayNam", "description": "There is no such field."}],
                }
            }
        }
    )

    error: Error
