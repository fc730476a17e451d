"""The README's two commands on a machine that has nothing: minutes, megabytes, and how long a second start takes.

Clones this repository into an empty folder with empty caches of pip, uv and npm, so that everything is downloaded and
the engine is compiled, then runs `./justw serve` (until it answers a question) and `./justw test`. Writes the table
between the marks in README.md with --write. Run it on an otherwise idle machine.
"""

import argparse
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
QUESTION = b'{"query": "What is the sensorimotor loop?"}'
LONGEST_S = 3600
COLUMNS = 3
KEPT = ("PATH", "HOME", "LANG", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT")


def clone(folder: Path) -> tuple[Path, dict[str, str]]:
    """A clone in `folder` and an environment without anything left over."""
    target = folder / "lutrin"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(target)], check=True)
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    caches = {"PIP_CACHE_DIR": "pip", "UV_CACHE_DIR": "uv", "npm_config_cache": "npm"}
    return target, environment | {name: str(folder / "cache" / where) for name, where in caches.items()}


def megabytes(folder: Path) -> int:
    """Disk that a folder takes, as `du` counts it."""
    return int(subprocess.run(["du", "-sm", str(folder)], check=True, capture_output=True, text=True).stdout.split()[0])


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def serve(target: Path, environment: dict[str, str]) -> tuple[float, dict[str, Any]]:
    """Seconds from `./justw serve` to the first answer, and the answer; the server is ended."""
    port = free_port()
    started = time.monotonic()
    process = subprocess.Popen(
        ["./justw", "serve", "--port", str(port)], cwd=target, env=environment, start_new_session=True
    )
    try:
        while True:
            if process.poll() is not None or time.monotonic() - started > LONGEST_S:
                raise SystemExit("./justw serve did not come up")
            try:
                ask = urllib.request.Request(f"http://127.0.0.1:{port}/api/query", QUESTION)
                ask.add_header("Content-Type", "application/json")
                with urllib.request.urlopen(ask, timeout=30) as reply:
                    return time.monotonic() - started, json.load(reply)
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.2)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=60)


def measure() -> list[tuple[str, str, str]]:
    """Rows for `./justw serve`, the first time and again, and for `./justw test` in the same clone after it."""
    with tempfile.TemporaryDirectory(prefix="lutrin-fresh-") as name:
        target, environment = clone(Path(name))
        first_s, answer = serve(target, environment)
        size = megabytes(target)
        again_s, _ = serve(target, environment)
        print(f"answer: {answer['kind']}, {answer['sources'][0]['url'] if answer['sources'] else 'no source'}")
        rows = [
            ("`./justw serve` on a fresh machine, to the first answer", f"{first_s / 60:.1f} min", f"{size} MB"),
            ("`./justw serve` again, to the first answer", f"{again_s:.1f} s", "nothing more"),
        ]
        print(rows, flush=True)
        started = time.monotonic()
        run = subprocess.run(["./justw", "test"], cwd=target, env=environment, check=False)
        minutes = (time.monotonic() - started) / 60
        if run.returncode != 0:
            raise SystemExit(f"./justw test failed with {run.returncode} after {minutes:.1f} min")
        return [*rows, ("`./justw test` after it", f"{minutes:.1f} min", f"{megabytes(target)} MB in all")]


def written(rows: list[tuple[str, str, str]]) -> str:
    """Put rows into the README's table, in place of older ones of the same name; returns the table."""
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    start, end = "<!-- measured:begin -->", "<!-- measured:end -->"
    block = text.partition(start)[2].partition(end)[0]
    known = [tuple(cell.strip() for cell in line.strip("| ").split("|")) for line in block.splitlines()[3:]]
    fresh = {row[0]: row for row in [*known, *rows] if len(row) == COLUMNS}
    lines = ["| command | time | on the disk |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in fresh.values())]
    table = "\n".join(lines)
    readme.write_text(
        re.sub(f"{start}.*{end}", lambda _: f"{start}\n{table}\n{end}", text, flags=re.DOTALL), encoding="utf-8"
    )
    return table


def main() -> None:
    """Measure, print the rows, and write them into the README if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the rows into README.md")
    options = parser.parse_args()
    rows = measure()
    for row in rows:
        print("  ".join(row))
    if options.write:
        print(written(rows))
    print(json.dumps({"rows": rows}))


if __name__ == "__main__":
    main()
