"""Tests; a package, so that test modules share `tests.services`."""
