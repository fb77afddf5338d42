"""Answers that lead a browser elsewhere. Nothing on the way keeps one: each depends on who asks, and when."""

from __future__ import annotations

from fastapi import Response
from fastapi.responses import RedirectResponse


def lead_to(address: str, status: int = 302) -> Response:
    """Leads to an address, percent-encoded; with 303, after a form, the browser asks for it with GET."""
    return RedirectResponse(address, status, {"Cache-Control": "no-store"})
