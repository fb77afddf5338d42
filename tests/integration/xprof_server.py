"""Asks XProf's own server, in a process of its own: `python -m tests.integration.xprof_server LOGDIR`.

Standard input holds a JSON list of [route, query]; standard output gets one JSON object per line with status,
type and body (text, with other bytes as surrogates). XProf writes caches into LOGDIR, so give it a copy.
"""

from __future__ import annotations

import gzip
import json
import sys
from types import SimpleNamespace


def main() -> None:
    from werkzeug.test import Client
    from xprof.profile_plugin import ProfilePlugin

    context = SimpleNamespace(
        logdir=sys.argv[1],
        data_provider=None,
        flags=SimpleNamespace(master_tpu_unsecure_channel=""),
    )

    plugin = ProfilePlugin(context)
    as_listed = plugin._get_xplane_basenames
    # XProf takes hosts in the order in which the file system lists them; ours are sorted.
    plugin._get_xplane_basenames = lambda folder: sorted(as_listed(folder))
    routes = plugin.get_plugin_apps()
    for route, query in json.load(sys.stdin):
        answer = Client(routes[route]).get(route, query_string=query)
        row = {
            "status": answer.status_code,
            "type": answer.content_type,
            "body": gzip.decompress(answer.data).decode("utf-8", "surrogateescape"),
        }
        sys.stdout.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
