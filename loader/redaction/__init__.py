"""Redacted profiles: what people outside may see of one, with stable pseudonyms in place of its texts.

A profile is rewritten before the engine reads it, so that no answer can hold what was in it. Knows no tool,
no link and no request.
"""
