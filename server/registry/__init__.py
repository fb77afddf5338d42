"""The registry of runs, sessions, links and API tokens in SQL."""
