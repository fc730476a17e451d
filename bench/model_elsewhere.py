"""A language model elsewhere, really run: `python bench/model_elsewhere.py`.

Two servers of llama-cpp-python (OpenAI's protocol) with a model of `models/` are behind a proxy; two servers of
Lutrin ask them (`LUTRIN_LLM_BASE_URL`). Readers read streams, first undisturbed, then while one of the model's servers
is killed in mid-answer, then while both are gone. The table says how the answers ended. `llama_cpp.server` needs
fastapi, sse-starlette and starlette-context besides.
"""

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
from common import CORPUS, ROOT

from loadtests.cluster import Process, running

PART = CORPUS / "physical-ai" / "01-part-1-foundations"
QUESTIONS = CORPUS / "questions" / "in_book.jsonl"
PATIENCE_S = 120.0
PROXY = """{{
	admin off
}}
:{port} {{
	reverse_proxy {servers} {{
		lb_policy least_conn
		lb_try_duration 5s
		fail_duration 5s
		flush_interval -1
	}}
}}
"""


@dataclass(frozen=True)
class Told:
    """What one reader got."""

    status: int
    first_s: float
    """Until the first sentence or excerpt; NaN if there was none."""
    seconds: float
    kind: str
    """Of the answer; `cut` if its stream had no end."""
    sentences: int


def questions(count: int) -> list[str]:
    """Different questions that the part of the book answers."""
    rows = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    known = [row["question"] for row in rows if any("01-part-1" in name for name in row["expected_files"])]
    return [known[number % len(known)] for number in range(count)]


def ask(address: str, question: str) -> Told:
    """Read one answer as it comes."""
    start_s = time.monotonic()
    first_s, event, kind, sentences, status = float("nan"), "", "cut", 0, 0
    try:
        with httpx.stream(
            "POST", f"{address}/api/query", json={"query": question, "explain": True}, timeout=PATIENCE_S,
            trust_env=False, headers={"Accept": "text/event-stream"},
        ) as reply:  # fmt: skip
            status = reply.status_code
            for line in reply.iter_lines():
                if line.startswith("event: "):
                    event = line.removeprefix("event: ")
                    sentences += event == "sentence"
                    if event in {"sentence", "excerpt"} and first_s != first_s:  # noqa: PLR0124 - NaN
                        first_s = time.monotonic() - start_s
                elif line.startswith("data: ") and event == "done":
                    kind = json.loads(line.removeprefix("data: "))["kind"]
    except httpx.HTTPError:
        kind = "cut"
    return Told(status, first_s, time.monotonic() - start_s, kind, sentences)


def round_of(address: str, asked: Sequence[str], at_once: int, beside: Callable[[], None]) -> list[Told]:
    """Let some readers ask one question after the other, while something is done beside."""
    told: list[Told] = []
    waiting = list(asked)

    def read() -> None:
        while waiting:
            told.append(ask(address, waiting.pop()))

    threads = [threading.Thread(target=read) for _ in range(at_once)]
    for thread in threads:
        thread.start()
    beside()
    for thread in threads:
        thread.join()
    return told


def row(name: str, told: Sequence[Told]) -> str:
    """A line of the table."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in Counter(one.kind for one in told).most_common())
    firsts = sorted(one.first_s for one in told if one.first_s == one.first_s)
    ends = sorted(one.seconds for one in told)
    failed = sum(one.status != httpx.codes.OK or one.kind == "cut" for one in told)
    first = f"{firsts[len(firsts) // 2]:.2f}" if firsts else "none"
    return f"| {name} | {len(told)} | {failed} | {kinds} | {first} | {ends[len(ends) // 2]:.2f} | {ends[-1]:.2f} |"


def main() -> None:
    """Run all three rounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=ROOT / "models" / "smollm2-135m-instruct-q4_1.gguf")
    parser.add_argument("--port", type=int, default=7960, help="first of the ports")
    parser.add_argument("--count", type=int, default=24, help="questions of a round")
    parser.add_argument("--at-once", type=int, default=3, help="readers")
    options = parser.parse_args()
    caddy = shutil.which("caddy") or sys.exit("The proxy is missing; Debian: apt-get install caddy")
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lutrin-model-")))
        ports = [options.port + 1, options.port + 2]
        models = []
        for port in ports:
            command = [sys.executable, "-m", "llama_cpp.server", "--model", str(options.model), "--port", str(port)]
            command += ["--model_alias", "elsewhere", "--n_ctx", "4096", "--interrupt_requests", "false"]
            health = f"http://127.0.0.1:{port}/v1/models"
            models.append(Process(command, os.environ, place, f"model-{port}", health))
        configuration = place / "Caddyfile"
        servers = " ".join(f"127.0.0.1:{port}" for port in ports)
        configuration.write_text(PROXY.format(port=options.port, servers=servers), encoding="utf-8")
        command = [caddy, "run", "--config", str(configuration), "--adapter", "caddyfile"]
        own = {"PATH": os.environ["PATH"], "HOME": str(place), "XDG_DATA_HOME": str(place)}
        models.append(Process(command, own, place, "model-proxy", f"http://127.0.0.1:{options.port}/v1/models"))
        for process in models:
            stack.callback(process.end)
            process.start()
        variables = {
            "LUTRIN_LLM_BASE_URL": f"http://127.0.0.1:{options.port}/v1", "LUTRIN_LLM_MODEL": "elsewhere",
            "GEMINI_API_KEY": "none", "LUTRIN_EXPLAIN_S": "60", "LUTRIN_DEADLINE_S": "30",
        }  # fmt: skip
        made = stack.enter_context(running(PART, servers=2, port=options.port + 10, **variables))
        asked = questions(3 * options.count)

        def kill_one() -> None:
            time.sleep(5)
            models[0].end(signal.SIGKILL)

        def kill_both() -> None:
            time.sleep(2)
            models[1].end(signal.SIGKILL)

        print("| meanwhile | answers | failed or cut | kinds | first words, median s | end, median s | slowest s |")
        print("|---|---|---|---|---|---|---|")
        for number, (name, beside) in enumerate(
            [("both answer", lambda: None), ("one killed in mid-answer", kill_one), ("both gone", kill_both)]
        ):
            part = asked[number * options.count : (number + 1) * options.count]
            print(row(name, round_of(made.address, part, options.at_once, beside)), flush=True)


if __name__ == "__main__":
    main()
