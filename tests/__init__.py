"""Tests; a package, so that test modules share `tests.services`."""

import pytest

# Before anything imports them: their assertions explain themselves like those of the tests.
pytest.register_assert_rewrite("tests.services")
