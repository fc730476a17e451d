"""A server of a load test's own: a free loopback port, an empty data folder, limits off, ended by its id."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError

LUTRIN = Path(sys.executable).with_name("lutrin")
ROOT = Path(__file__).resolve().parents[1]
READY_S = 240.0
END_S = 30.0
LOG_LINES = 20
COMING = frozenset({"arriving", "measuring"})
"""States of a language model that is not ready yet."""


def settings(data_dir: Path, model: str) -> dict[str, str]:
    """The environment of the server and of the ingests beside it; all readers come from one address, so no limits."""
    return {
        **os.environ,
        "LUTRIN_DATA_DIR": str(data_dir),
        "LUTRIN_MODELS_DIR": str(ROOT / "models"),
        "LUTRIN_MODEL": model,
        "LUTRIN_RATE_SESSION_PER_MIN": "0",
        "LUTRIN_RATE_PEER_PER_MIN": "0",
        "LUTRIN_LOG_LEVEL": "info",  # its lines say how long each question waited for the model
        "LUTRIN_LOG_FORMAT": "json",
    }


def ingest(corpus: Path, environment: dict[str, str], *arguments: str) -> None:
    """Read the books; ends the test if they cannot be read."""
    _command(environment, "ingest", str(corpus), *arguments)


def tune(environment: dict[str, str]) -> None:
    """Choose the form of the model that is quickest here, as `just serve` does before its first start."""
    _command(environment, "models", "tune", "--short")


def _command(environment: dict[str, str], *arguments: str) -> None:
    command = [str(LUTRIN), *arguments]
    done = subprocess.run(
        command, env=environment, cwd=ROOT, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if done.returncode != 0:
        sys.exit(f"`lutrin {' '.join(arguments)}` failed:\n{done.stdout}{done.stderr}")


@contextmanager
def serving(environment: dict[str, str], log: Path) -> Iterator[str]:
    """A server that is ready, model included; yields its address."""
    with running(environment, log) as (address, _):
        yield address


@contextmanager
def running(environment: dict[str, str], log: Path) -> Iterator[tuple[str, int]]:
    """A server that is ready, model included; yields its address and its process."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    with log.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(
            [str(LUTRIN), "serve", "--port", str(port)],
            env=environment, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            _await_ready(process, address, log)
            yield address, process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def copy_of(corpus: Path, place: Path) -> Path:
    """A copy of the books that a test may change."""
    return Path(shutil.copytree(corpus, place))


def _await_ready(process: "subprocess.Popen[Any]", address: str, log: Path) -> None:
    end_s = time.monotonic() + READY_S
    while time.monotonic() < end_s:
        if process.poll() is not None:
            break
        state = _readiness(address)
        if state.get("ready") and state.get("model_state") not in COMING:
            return
        time.sleep(0.2)
    lines = log.read_text(encoding="utf-8").splitlines()
    sys.exit("The server did not become ready:\n" + "\n".join(lines[-LOG_LINES:]))


def _readiness(address: str) -> dict[str, Any]:
    try:
        with urllib.request.urlopen(f"{address}/ready", timeout=5) as reply:  # noqa: S310 - the address is ours
            found: dict[str, Any] = json.load(reply)
    except (URLError, OSError, ValueError):  # not listening yet, or 503
        return {}
    return found
