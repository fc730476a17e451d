"""The README's two commands on a machine that has nothing: minutes, megabytes, and how long a second start takes.

Clones this repository into an empty folder with empty caches of pip, uv and npm, so that everything is downloaded and
the engine is compiled. Runs `./justw serve` until it answers a question, then until the model has arrived and explains,
asks the README's questions and prints the answers; then `./justw test` (unless --no-test). Writes the table between the
marks in README.md with --write. Run it on an otherwise idle machine.
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
QUESTION = "What is the sensorimotor loop?"
EXPLAINED = "Why does a simulated robot behave differently from the real one?"
"""Asked until a model has written to it; nothing is prepared on it."""
WAIT_S = 10
"""Seconds that an answer waits for the model."""
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
    """A port without a listener."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def ask(port: int, question: str) -> dict[str, Any]:
    """The answer to a question."""
    body = json.dumps({"query": question, "wait_s": WAIT_S}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/api/query", body)
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=30) as reply:
        answer: dict[str, Any] = json.load(reply)
    return answer


def readme_questions() -> list[str]:
    """The questions that README proposes for the sample book, one a line, in italics."""
    return re.findall(r"^- \*(.+\?)\*$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)


def serve(target: Path, environment: dict[str, str], *, explained: bool = False) -> tuple[float, float, dict[str, Any]]:
    """Seconds from `./justw serve` to the first answer and to the first by a model, and the answer; ends the server.

    Args:
        target: The clone.
        environment: Of the command.
        explained: Whether the model is waited for, and README's questions are asked and their answers printed.
    """
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
                answer = ask(port, QUESTION)
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.2)
                continue
            first_s, explained_s = time.monotonic() - started, 0.0
            while explained and not explained_s:
                if ask(port, EXPLAINED)["model_used"]:
                    explained_s = time.monotonic() - started
                elif time.monotonic() - started > LONGEST_S:
                    raise SystemExit("the model did not come up")
                else:
                    time.sleep(1)
            for question in readme_questions() if explained else ():
                print(f"\n{question}\n{ask(port, question)['answer']}", flush=True)
            return first_s, explained_s, answer
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=60)


def measure(*, tested: bool) -> list[tuple[str, str, str]]:
    """Rows for `./justw serve`, the first time and again, and for `./justw test` in the same clone after it."""
    with tempfile.TemporaryDirectory(prefix="lutrin-fresh-") as name:
        target, environment = clone(Path(name))
        first_s, explained_s, answer = serve(target, environment, explained=True)
        size = megabytes(target)
        again_s, _, _ = serve(target, environment)
        print(f"answer: {answer['kind']}, {answer['sources'][0]['url'] if answer['sources'] else 'no source'}")
        rows = [
            ("`./justw serve` on a fresh machine, to the first answer", f"{first_s / 60:.1f} min", f"{size} MB"),
            ("the same, to the first explanation by the model", f"{explained_s / 60:.1f} min", "with the model"),
            ("`./justw serve` again, to the first answer", f"{again_s:.1f} s", "nothing more"),
        ]
        print(rows, flush=True)
        if not tested:
            return rows
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
    parser.add_argument("--no-test", action="store_true", help="leave `./justw test` out")
    options = parser.parse_args()
    rows = measure(tested=not options.no_test)
    for row in rows:
        print("  ".join(row))
    if options.write:
        print(written(rows))
    print(json.dumps({"rows": rows}))


if __name__ == "__main__":
    main()
