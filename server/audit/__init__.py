"""The audit log: who made, opened, changed, revoked and deleted what, when, and from where.

`requests` turns a request that has succeeded into an event, `log` writes events down. Routes know neither:
they say what they did with `server.audit.notes.note_audited`. Which events there are and why:
`docs/adr/040-audit.md`.
"""
