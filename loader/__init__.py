"""From an object store, through XProf's converter, into a cache.

This package knows no web framework and nothing of `auth` or `server`. It never decides who may see a
profile; it is given the location of one session and answers with the data of one tool.
"""
