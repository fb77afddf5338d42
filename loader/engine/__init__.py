"""Converters of profiles, run in child processes."""
