"""Many people and a job at one front end and some workers, all on this machine.

Each process of the hub is a real one. The load comes from a process of its own (`generator`), the only one
that may import Locust, which changes Python's sockets. Nothing here reaches another machine.
"""
