"""The README's two commands on a machine that has nothing: minutes, megabytes, and how long a second start takes.

Clones this repository into an empty folder with empty caches of pip, uv and npm, so that everything is downloaded and
the engine is compiled, then runs `./justw serve` (until it answers a question) and `./justw test`. Writes the table between
the marks in README.md with --write. Run it on an otherwise idle machine.
"""

import argparse
import json
import os
import re
import shutil
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


def main() -> None:
    """Measure, print the table, and write it into the README if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table into README.md")
    parser.add_argument("--skip-test", action="store_true", help="leave out ./justw test")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="lutrin-fresh-") as name:
        target, environment = clone(Path(name))
        first_s, answer = serve(target, environment)
        size = megabytes(target)
        again_s, _ = serve(target, environment)
        print(f"answer: {answer['kind']}, {answer['sources'][0]['url'] if answer['sources'] else 'no source'}")
        rows.append(
            ("`./justw serve` on a fresh machine, to the first answer", f"{first_s / 60:.1f} min", f"{size} MB")
        )
        rows.append(("`./justw serve` again, to the first answer", f"{again_s:.1f} s", "0 MB"))
        shutil.rmtree(target)
    if not options.skip_test:
        with tempfile.TemporaryDirectory(prefix="lutrin-fresh-") as name:
            target, environment = clone(Path(name))
            started = time.monotonic()
            run = subprocess.run(["./justw", "test"], cwd=target, env=environment, check=False)
            minutes = (time.monotonic() - started) / 60
            rows.append(("`./justw test` on a fresh machine", f"{minutes:.1f} min", f"{megabytes(target)} MB"))
            if run.returncode != 0:
                raise SystemExit(f"./justw test failed with {run.returncode} after {minutes:.1f} min")
    table = "| command | time | on the disk |\n|---|---|---|\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows)
    print(table)
    if options.write:
        readme = ROOT / "README.md"
        text = readme.read_text(encoding="utf-8")
        marks = "<!-- measured:begin -->", "<!-- measured:end -->"
        block = f"{marks[0]}\n{table}\n{marks[1]}"
        readme.write_text(re.sub(f"{marks[0]}.*{marks[1]}", lambda _: block, text, flags=re.DOTALL), encoding="utf-8")
    print(json.dumps({"rows": rows}))


if __name__ == "__main__":
    main()
