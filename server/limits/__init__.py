"""Limits against guessing and flooding: by network address and by link, over all front ends.

`attempts` counts what is worth an exact number (passwords, tokens), `traffic` what comes with every request.
Both count in Redis where there is one, and go on by themselves while it is away.
"""
