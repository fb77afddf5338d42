"""Converts as a user without privileges: `python -m tests.hostile.plain_user DIRECTORY UID [LAYER ...]`.

Started by root; nothing is converted unless the layers hold (`loader.engine.sandbox.REQUIREMENTS`).

The user changes after the imports, so that it needs no right to read this checkout. Prints which tools were
answered, and who owns what was written.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path

from loader.engine import zygote
from loader.engine.base import Job, Limits
from loader.engine.messages import Request, decode_end, encode_request
from loader.engine.outcome import explain

LIMITS = Limits(seconds=60, memory_bytes=2 << 30, output_bytes=1 << 30)
TOOLS = ("run_tools", "overview_page", "trace_viewer@")


def main() -> None:
    directory, uid = Path(sys.argv[1]), int(sys.argv[2])
    hosts = tuple(sorted(path.name.removesuffix(".xplane.pb") for path in directory.iterdir()))
    given = set(directory.iterdir())
    os.chown(directory, uid, uid)
    converters = zygote.load_engine()
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        zygote.Zygote(theirs, converters, None, sys.argv[3:]).serve()
        os._exit(0)
    theirs.close()
    answered = []
    lines = ours.makefile("rb")
    for number, tool in enumerate(TOOLS):
        job = Job(directory, hosts, tool)
        ours.sendall(encode_request(Request(number, job, LIMITS)))
        _, end = decode_end(json.loads(lines.readline()))
        if explain(job, LIMITS, end) is None:
            answered.append(tool)
    owners = {path.stat().st_uid for path in set(directory.iterdir()) - given}
    sys.stdout.write(json.dumps({"tools": answered, "owners": sorted(owners)}))


if __name__ == "__main__":
    main()
