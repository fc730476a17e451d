"""PostgreSQL and a school for the tests of this folder; what servers printed stands with a test that failed."""

from tests.end_to_end.conftest import pytest_runtest_makereport
from tests.remote.fixtures import postgres, postgres_url, warm_remote
from tests.remote.school import school, services

__all__ = ["postgres", "postgres_url", "pytest_runtest_makereport", "school", "services", "warm_remote"]
