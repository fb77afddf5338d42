"""Who may see what: tokens, identities, share links and the one policy function.

This package knows no web framework, no database, and nothing of `loader` or `server`; what it needs from
outside it states as protocols in `auth.ports`.
"""
