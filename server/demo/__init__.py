"""The demo: a session to look at without a TPU, and the command that serves it.

Needs the `engine` extra (protobuf). Nothing outside `xprof-hub demo`, the tests and the bench imports it.
"""
