"""Runs and their sessions between registry, storage and the API."""
