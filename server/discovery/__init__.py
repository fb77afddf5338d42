"""Finding runs and sessions where jobs write them: the safety net under what jobs tell by themselves.

Looks at names and sizes only, by listings that never go below a folder that is no profile's; reads no file
and writes none. Whatever is done here may be done twice, by two front ends at once, and be cut off anywhere.
"""

from __future__ import annotations

from server.discovery.finding import FoundSessions, sessions_of_folder, sessions_of_run

__all__ = ["FoundSessions", "sessions_of_folder", "sessions_of_run"]
