"""A reader's waits: for the book's answer, for the model's words, and in vain.

    python bench/waiting.py [--data-dir FOLDER] [--tier medium] [--neighbours 0 1 2] [--questions 4]
                            [--code CHECKOUT --code-data FOLDER] [--cuts 0] [--restarts 0]

A server of its own, on the sample books. Beside so many busy neighbours (processes of the usual priority, each in a
session of its own) one reader asks about sections that were never read, then asks the same section again in other
words. The table has seconds to the book's answer, to the first and to the last sentence of the model, and to its end:
a model that finds nothing to add to the book's words ends without a sentence. Of those that were begun it tells the
shares that end within 30 and 60 s and that spoke, and how many estimates were right within a factor of two, of the
first sentence or of word that there is none. An explanation that is offered is asked for at once. `--code` runs the
server from another checkout, in the same run, beside it, on a data folder that it has filled.

`--cuts N` reloads the page N times in mid-answer and closes it N times; `--restarts N` kills the server as often.
Each time the question and the book's answer must be in the history afterwards, and a page that was loaded again must
follow the answer to its end. The last line is JSON.
"""

import argparse
import http.client
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import msgspec
from common import QUESTIONS, ROOT, finish, machine

from loadtests import server
from loadtests.targets import percentile

BUSY = "while True: pass"
PATIENCE_S = 60.0
SECRET = "a-secret-of-this-reader-0123456789"  # noqa: S105 - a test value
AGAIN = "What does the book say about this, in other words: {}"


class Seen(msgspec.Struct, kw_only=True):
    """What one reader saw of one question."""

    book_s: float = math.nan
    first_s: float = math.nan
    """The model's first sentence."""
    last_s: float = math.nan
    eta_s: float = math.nan
    """The first estimate; `told_s` is when it was sent."""
    told_s: float = 0.0
    ended_s: float = math.nan
    """Time at which the model ended after it had begun, whether or not it had anything to add."""
    is_begun: bool = False
    sentences: int = 0
    kind: str = ""

    @property
    def waited_s(self) -> float:
        """Until the first sentence, or the end of a model that finds nothing to add."""
        return self.ended_s if math.isnan(self.first_s) else self.first_s


class Reader:
    """Asks as the widget does."""

    def __init__(self, address: str) -> None:
        self._place = address.removeprefix("http://")

    def open(
        self, method: str, path: str, body: dict[str, object] | None = None, *, stream: bool = True
    ) -> http.client.HTTPResponse:
        """Send a request; the reply is read by the caller."""
        connection = http.client.HTTPConnection(self._place, timeout=PATIENCE_S)
        headers = {"X-Lutrin-Client": SECRET, "Content-Type": "application/json"}
        headers |= {"Accept": "text/event-stream"} if stream else {}
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        return connection.getresponse()

    def history(self, session: str) -> list[dict[str, Any]]:
        """The messages of a conversation."""
        found: list[dict[str, Any]] = json.load(self.open("GET", f"/history/{session}", stream=False))["messages"]
        return found

    def ask(self, question: str, session: str = "") -> Seen:
        """Ask, and ask for the explanation where it is offered."""
        began, seen = time.monotonic(), Seen()
        body: dict[str, object] = {"session_id": session or uuid.uuid4().hex, "message": question}
        for explain in (False, True):
            reply = self.open("POST", "/chat", {**body, "explain": explain})
            done: dict[str, Any] = {}
            for name, data in events_of(reply):
                now = time.monotonic() - began
                if name == "answer" and math.isnan(seen.book_s):
                    seen.book_s = now
                if name == "sentence":
                    seen.first_s = now if math.isnan(seen.first_s) else seen.first_s
                    seen.last_s, seen.sentences = now, seen.sentences + 1
                seen.is_begun = seen.is_begun or name in {"queued", "working"}
                if data.get("eta_s") and math.isnan(seen.eta_s):
                    seen.eta_s, seen.told_s = data["eta_s"], now
                done = data if name == "done" else {}
                if now > PATIENCE_S:
                    break
            reply.close()
            seen.book_s = time.monotonic() - began if math.isnan(seen.book_s) else seen.book_s
            seen.kind = done.get("kind", "")
            if seen.is_begun and done and not done.get("warnings"):
                seen.ended_s = time.monotonic() - began
            if not done.get("explainable"):
                break
        return seen


def events_of(reply: http.client.HTTPResponse) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and data of each event."""
    name = ""
    for line in reply:
        if line.startswith(b"event: "):
            name = line.removeprefix(b"event: ").strip().decode()
        elif line.startswith(b"data: "):
            yield name, json.loads(line.removeprefix(b"data: "))


@contextmanager
def neighbours(count: int) -> Iterator[None]:
    """Busy processes, each in a session of its own."""
    command = [sys.executable, "-c", BUSY]
    started = [subprocess.Popen(command, start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for one in started:
            one.kill()
            one.wait()


@contextmanager
def serving(options: argparse.Namespace, code: Path | None, place: Path) -> Iterator[tuple[Reader, int]]:
    """A server of this code or another, with the model in memory."""
    environment = server.settings(options.code_data if code else options.data_dir, options.tier)
    environment |= {"PYTHONPATH": str(code / "src")} if code is not None else {}
    with server.running(environment, place / f"{uuid.uuid4().hex}.log") as (address, pid):
        yield Reader(address), pid


def row(name: str, neighbours_: int, came: Sequence[Seen]) -> dict[str, object]:
    """The figures of one line."""
    firsts = [one.first_s for one in came if not math.isnan(one.first_s)]
    begun = [one for one in came if one.is_begun]
    ends = [one.ended_s for one in begun if not math.isnan(one.ended_s)]
    lasts = [one.last_s for one in came if not math.isnan(one.last_s)]
    ratios = [(one.waited_s - one.told_s) / one.eta_s for one in came if not math.isnan(one.waited_s / one.eta_s)]
    return {
        "asked": name,
        "neighbours": neighbours_,
        "questions": len(came),
        "book_p50_s": percentile([one.book_s for one in came], 0.5),
        "book_max_s": max(one.book_s for one in came),
        "first_p50_s": percentile(firsts, 0.5),
        "last_p50_s": percentile(lasts, 0.5),
        "asked_of_model": len(begun),
        "ended_p50_s": percentile(ends, 0.5),
        "ended_30_s": sum(end <= 30 for end in ends) / max(1, len(begun)),
        "ended_60_s": sum(end <= 60 for end in ends) / max(1, len(begun)),
        "spoke": sum(one.sentences > 0 for one in begun) / max(1, len(begun)),
        "estimates_right": sum(0.5 <= ratio <= 2 for ratio in ratios),
        "estimates": len(ratios),
    }


def table(rows: Sequence[dict[str, object]]) -> str:
    """The rows in Markdown."""
    lines = [
        (
            "| asked | busy neighbours | book p50 / max, s | first / last sentence p50, s | model begun, ended p50, s "
            "| ended within 30 / 60 s | spoke | estimates within 2x |"
        ),
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {one['asked']} | {one['neighbours']} | {one['book_p50_s']:.2f} / {one['book_max_s']:.2f} "
        f"| {one['first_p50_s']:.1f} / {one['last_p50_s']:.1f} | {one['asked_of_model']} of {one['questions']}, "
        f"{one['ended_p50_s']:.1f} | {one['ended_30_s']:.2f} / {one['ended_60_s']:.2f} | {one['spoke']:.2f} "
        f"| {one['estimates_right']} of {one['estimates']} |"
        for one in rows
    ]
    return "\n".join(lines)


def measure(options: argparse.Namespace, questions: Sequence[str], place: Path) -> list[dict[str, object]]:
    """Rows for each number of neighbours: this code, then the other."""
    rows = []
    versions = [("this code", None), *([("the other code", options.code)] if options.code else [])]
    for name, code in versions:
        left = iter(questions)
        with serving(options, code, place) as (reader, _):
            reader.ask(next(left))
            for count in options.neighbours:
                with neighbours(count):
                    chosen = [next(left) for _ in range(options.questions)]
                    rows.append(row(f"{name}, never read", count, [reader.ask(one) for one in chosen]))
                    rows.append(row(f"{name}, read", count, [reader.ask(AGAIN.format(one)) for one in chosen]))
                    print(json.dumps(rows[-2:]), file=sys.stderr, flush=True)
    return rows


def begin(reader: Reader, question: str) -> tuple[str, str, http.client.HTTPResponse]:
    """Ask, and read until the model works; return session, message and the open reply."""
    session = uuid.uuid4().hex
    reply = reader.open("POST", "/chat", {"session_id": session, "message": question, "explain": True})
    for name, _ in events_of(reply):
        if name in {"working", "queued", "done"}:
            break
    return session, reply.headers["X-Lutrin-Message"], reply


def is_kept(reader: Reader, session: str, question: str) -> bool:
    """Whether the history has the question and the book's answer."""
    messages = reader.history(session)
    return [one["text"] for one in messages[:1]] == [question] and bool(
        messages[-1]["excerpts"] or messages[-1]["text"]
    )


def cut(options: argparse.Namespace, questions: Sequence[str], place: Path) -> dict[str, int]:
    """Reload and close pages in mid-answer, and kill the server; count what was lost."""
    lost = {"reloads": options.cuts, "closed": options.cuts, "restarts": options.restarts}
    found = {"reloaded_lost": 0, "reloaded_unended": 0, "closed_lost": 0, "restarted_lost": 0}
    if options.cuts:
        with serving(options, None, place) as (reader, _):
            for number in range(2 * options.cuts):
                question = questions[number % len(questions)]
                session, message, reply = begin(reader, question)
                reply.close()
                if number % 2:
                    found["closed_lost"] += not is_kept(reader, session, question)
                    continue
                found["reloaded_lost"] += not is_kept(reader, session, question)
                followed = reader.open("GET", f"/messages/{message}/events")
                found["reloaded_unended"] += [name for name, _ in events_of(followed)][-1:] != ["done"]
    for number in range(options.restarts):
        question = questions[number % len(questions)]
        with ExitStack() as stack:
            reader, pid = stack.enter_context(serving(options, None, place))
            session, _, _ = begin(reader, question)
            os.kill(pid, signal.SIGKILL)
        with serving(options, None, place) as (reader, _):
            found["restarted_lost"] += not is_kept(reader, session, question)
    return lost | found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=ROOT / "data", help="holds the sample books")
    parser.add_argument("--tier", default="medium")
    parser.add_argument("--neighbours", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument("--questions", type=int, default=4)
    parser.add_argument("--from", type=int, default=0, dest="first", help="leave out so many questions")
    parser.add_argument("--code", type=Path, help="checkout of other code")
    parser.add_argument("--code-data", type=Path, help="a data folder that the other code has filled")
    parser.add_argument("--cuts", type=int, default=0)
    parser.add_argument("--restarts", type=int, default=0)
    options = parser.parse_args()
    known = [json.loads(line) for line in QUESTIONS[0].read_text("utf-8").splitlines()]
    plain = [one["question"] for one in known if not one.get("selected_text") and not one.get("previous_question")]
    questions = plain[options.first :: 3]
    about = machine("llama-cpp-python") | {"load": f"{os.getloadavg()[0]:.1f}", "model": options.tier}
    with tempfile.TemporaryDirectory(prefix="lutrin-waiting-") as folder:
        rows = measure(options, questions, Path(folder)) if options.neighbours else []
        cuts = cut(options, questions, Path(folder)) if options.cuts or options.restarts else {}
    parts = ([table(rows)] if rows else []) + ([json.dumps(cuts)] if cuts else [])
    finish("Waiting", parts, {"rows": rows, **cuts}, about)


if __name__ == "__main__":
    main()
