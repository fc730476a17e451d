"""Services that the contract suites need."""

from tests.remote.fixtures import postgres

__all__ = ["postgres"]
