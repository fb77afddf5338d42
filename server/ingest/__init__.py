"""What jobs tell of themselves in the words of Google's SDK (self-hosted mode), as the registry's values.

A job must never suffer from what watches it, so nothing here refuses: what can be kept is kept, and what is
odd becomes a warning of the run. The routes are in `server.routes.ingest`; no query and no HTTP in here.
"""
