"""The proxy of compose.yaml before servers of the tests' own, where Caddy is installed."""

import os
import shutil
import ssl
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from tests.end_to_end.processes import free_port, wait_until

CADDYFILE = Path(__file__).parents[2] / "Caddyfile"
START_S, END_S = 30.0, 10.0


def program() -> str:
    """Caddy; without it the test is skipped."""
    found = shutil.which("caddy")
    if found is None:
        pytest.skip("Caddy is not installed (Debian: apt-get install caddy)")
    return found


def validated() -> str:
    """Caddy's verdict on the configuration."""
    done = subprocess.run(
        [program(), "validate", "--config", CADDYFILE, "--adapter", "caddyfile"],
        capture_output=True,
        text=True,
        check=False,
        timeout=END_S * 3,
    )
    return done.stdout + done.stderr


@contextmanager
def proxy(servers: Sequence[str], place: Path, site: str = "") -> Iterator[httpx.Client]:
    """A client of the proxy before these servers, as long as the block runs.

    Args:
        servers: `host:port` of each.
        place: Folder for what it prints and keeps.
        site: Name that it serves over TLS: `localhost`, whose certificate is of its own authority; empty: no TLS.
    """
    port = free_port()
    own = {"XDG_DATA_HOME": str(place), "XDG_CONFIG_HOME": str(place), "HOME": str(place)}
    variables = {**own, "LUTRIN_SERVERS": " ".join(servers), "LUTRIN_PROXY_PORT": str(port), "LUTRIN_SITE": site}
    with (place / "proxy.log").open("wb") as log:
        process = subprocess.Popen(
            [program(), "run", "--config", CADDYFILE, "--adapter", "caddyfile"],
            env={"PATH": os.environ["PATH"], **variables},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            authority = place / "caddy" / "pki" / "authorities" / "local" / "root.crt"
            if site:
                wait_until(authority.exists, START_S, "the proxy has an authority of its own")
            address = f"https://{site}:{port}" if site else f"http://127.0.0.1:{port}"
            trust = ssl.create_default_context(cafile=authority) if site else True
            with httpx.Client(base_url=address, timeout=60, trust_env=False, verify=trust) as client:
                wait_until(lambda: _listens(client), START_S, "the proxy answers")
                yield client
        finally:
            process.terminate()
            process.wait(END_S)


def _listens(client: httpx.Client) -> bool:
    try:
        client.get("/health")
    except httpx.TransportError:
        return False
    return True
