"""The profiles under which the suite runs: everything on this machine, and services elsewhere.

Both run unless LUTRIN_TEST_PROFILE names one. The services of the remote profile are this machine's own: a PostgreSQL
that the suite starts, which keeps the vectors, too, and a model on the loopback interface; with LUTRIN_TEST_QDRANT_URL
set, that Qdrant keeps the vectors.
Embeddings stay local, for the service on the loopback interface has none that mean anything.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.remote.postgres import Cluster
from tests.remote.services import Services

KNOWN = ("local", "remote")
VARIABLE = "LUTRIN_TEST_PROFILE"


@dataclass(frozen=True)
class Profile:
    """A profile, with the variables for processes under it."""

    name: str
    variables: Callable[[Path], dict[str, str]]
    """The environment of an installation, by its data folder."""


def chosen(value: str) -> tuple[str, ...]:
    """The profiles that the suite runs under.

    Args:
        value: Of the variable; empty: all of them.

    Raises:
        ValueError: There is no such profile.
    """
    if value and value not in KNOWN:
        raise ValueError(f"{VARIABLE} must be one of: {', '.join(KNOWN)}")
    return (value,) if value else KNOWN


def local() -> Profile:
    """Everything on this machine."""
    return Profile("local", lambda _: {})


@contextmanager
def remote(postgres: Cluster) -> Iterator[Profile]:
    """Services elsewhere, as long as the block runs."""
    services = Services(postgres)
    vectors = {
        name: os.environ[given]
        for name, given in (("QDRANT_URL", "LUTRIN_TEST_QDRANT_URL"), ("QDRANT_API_KEY", "LUTRIN_TEST_QDRANT_KEY"))
        if os.environ.get(given)
    }
    if vectors:
        vectors["LUTRIN_VECTORS"] = "qdrant"
    try:
        yield Profile("remote", lambda data: {**services.variables(data), "LUTRIN_EMBED_MODEL": "local", **vectors})
    finally:
        services.close()
