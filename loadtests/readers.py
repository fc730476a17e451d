"""Readers as Locust plays them: one class a scenario, each reader a session of its own with questions of its own.

`run.py` starts this file; by hand: `locust -f loadtests/readers.py --headless -u 10 -t 60s --host URL
--questions FILE --samples FILE Ten`. Readers read the stream, as the widget does: the book's answer, then the model's
explanation, which they wait for, and ask for where it is offered. Each answer becomes a line of JSON in the file of
samples (see `targets.Sample`).
"""

import json
import random
import time
import uuid
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from locust import FastHttpUser, events, task
from locust.env import Environment

from loadtests.deck import Deck
from lutrin import messages

TURN_S = 8.0
"""Readers of `ten` ask together whenever the clock shows a multiple of this; an answer takes at most half of it."""
BURST_S = 8.0
"""Time between two bursts of `class`."""
SPREAD_S = 2.0
"""Time from the start of a burst within which every pupil asks."""
PAUSE_S = (10.0, 20.0)
"""Pause between two questions of a reader of `hundred`."""
PATIENCE_S = 30.0
"""Silence after which a reader counts as an error."""
EXPLAINED_S = 60.0
"""Time after the question until which a reader waits for an explanation."""
RETRIEVE_EVERY = 5
"""Questions of a reader of `hundred` per search for passages."""
FIRST_WORDS = frozenset({"excerpt", "sentence", "answer"})
"""Events that a reader can read something of; a refusal has its words in `answer`."""
BEGUN = frozenset({"queued", "working"})
"""Events that come once the model is to explain."""
UNSAVED = frozenset({messages.NOT_SAVED, messages.NOT_SAVED_DISK, messages.NOT_REMEMBERED})
OK = 200
CUT_OFF = 599
"""Status of a stream that ended without an answer."""


class Notebook:
    """The file of samples of a run."""

    def __init__(self) -> None:
        self._out: IO[str] | None = None
        self._began_s = 0.0

    def open(self, samples: Path) -> None:
        """Begin it."""
        self._out = samples.open("w", encoding="utf-8")
        self._began_s = time.time()

    def note(self, start_s: float, **sample: object) -> None:
        """Write what became of a request that began at this time of day."""
        if self._out is not None:
            self._out.write(json.dumps({"at_s": round(start_s - self._began_s, 3), **sample}) + "\n")
            self._out.flush()


DECK = Deck()
NOTES = Notebook()


@events.init_command_line_parser.add_listener  # type: ignore[untyped-decorator]  # Locust's is not annotated
def add_options(parser: ArgumentParser) -> None:
    """What this file needs besides Locust's own options."""
    parser.add_argument("--questions", help="JSON array of arrays of questions, each of one kind")
    parser.add_argument("--readers", type=int, default=1, help="how many share the questions")
    parser.add_argument("--samples", help="file that gets a line of JSON for each answer")


@events.init.add_listener  # type: ignore[untyped-decorator]  # Locust's is not annotated
def open_deck(environment: Environment, **_: object) -> None:
    """Open the files once, before any reader asks."""
    options = environment.parsed_options
    if options is not None and options.questions:
        DECK.open(json.loads(Path(options.questions).read_text(encoding="utf-8")), options.readers)
        NOTES.open(Path(options.samples))


class Reader(FastHttpUser):
    """A session that asks and reads."""

    abstract = True
    network_timeout = PATIENCE_S
    connection_timeout = PATIENCE_S

    def on_start(self) -> None:
        """Begin a session, as a browser does."""
        self.session = uuid.uuid4().hex
        self.seat = DECK.seat()
        self.asked = 0

    def question(self) -> str:
        """The next question of this reader's own."""
        self.asked += 1
        return DECK.deal(self.seat, self.asked - 1)

    def ask(self) -> None:
        """Put one question to the book, read the answer as it comes, and wait a while for the explanation."""
        body = {"query": self.question(), "session_id": self.session}
        start_s = time.time()
        sample: dict[str, Any] = {"turn": self.asked - 1, "status": 0, "kind": "", "message": "", "seconds": None}
        offered = self.read(body, start_s, sample)
        if offered:
            self.read({**body, "explain": True}, start_s, sample)
        sample["seconds"] = sample["seconds"] or round(time.time() - start_s, 4)
        NOTES.note(start_s, session=self.session, what="answer", **sample)

    def read(self, body: Mapping[str, object], start_s: float, sample: dict[str, Any]) -> bool:
        """Read a stream into the sample; return whether the answer may be explained on demand."""
        try:
            with self.client.post(
                "/api/query", json=body, headers={"Accept": "text/event-stream"}, stream=True, catch_response=True
            ) as reply:
                sample |= {"status": reply.status_code, "error": _error(reply)}
                sample["message"] = sample["message"] or _header(reply.headers, "x-lutrin-message")
                return sample["status"] == OK and _read(reply.stream, start_s, sample)
        except OSError as error:  # the connection broke while the answer was read
            sample |= {"status": CUT_OFF, "error": repr(error)}
        return False

    def look_up(self) -> None:
        """Ask for passages only."""
        start_s = time.time()
        reply = self.client.post("/api/retrieve", json={"query": self.question()})
        seconds = round(time.time() - start_s, 4)
        status = reply.status_code or 0
        NOTES.note(start_s, session=self.session, what="retrieve", seconds=seconds, status=status, error=_error(reply))


class Ten(Reader):
    """Ten readers ask ten different questions at the same moment, again and again."""

    def wait_time(self) -> float:
        """Until the next moment at which all ask."""
        return TURN_S - time.time() % TURN_S

    @task
    def turn(self) -> None:
        """One question."""
        if time.time() % TURN_S < TURN_S / 2:  # else this reader has just come in: the first moment is still ahead
            self.ask()


class Pupil(Reader):
    """A class on one chapter: the teacher says "now", and within two seconds everyone has asked."""

    def wait_time(self) -> float:
        """Until the next burst, and a moment of one's own."""
        return BURST_S - time.time() % BURST_S + random.uniform(0, SPREAD_S)

    @task
    def turn(self) -> None:
        """One question."""
        if time.time() % BURST_S < BURST_S / 2:
            self.ask()


class Hundred(Reader):
    """A school that reads: a question every 10 to 20 seconds from each, now and then a look at the passages alone."""

    def on_start(self) -> None:
        """Come in at a moment of one's own."""
        super().on_start()
        self.turns = random.randrange(RETRIEVE_EVERY)
        time.sleep(random.uniform(0, PAUSE_S[1]))

    def wait_time(self) -> float:
        """What reading an answer takes."""
        return random.uniform(*PAUSE_S)

    @task
    def turn(self) -> None:
        """One question."""
        self.turns += 1
        if self.turns % RETRIEVE_EVERY == 0:
            self.look_up()
        self.ask()


class Library(Reader):
    """A question every 10 to 20 seconds from each; readers come in one by one."""

    def wait_time(self) -> float:
        """What reading an answer takes."""
        return random.uniform(*PAUSE_S)

    @task
    def turn(self) -> None:
        """One question."""
        self.ask()


class Steady(Reader):
    """Twenty readers who ask a question a second each, during an ingest."""

    def wait_time(self) -> float:
        """Until the same moment of the next second."""
        return 1.0 - time.time() % 1.0 + self.phase

    def on_start(self) -> None:
        """Take a moment of the second for oneself."""
        super().on_start()
        self.phase = random.uniform(0, 0.9)

    @task
    def turn(self) -> None:
        """One question."""
        self.ask()


def _read(stream: Any, start_s: float, sample: dict[str, Any]) -> bool:  # noqa: ANN401 - Locust's, without annotations
    """Note when what came of an answer, up to its end or the reader's; return whether an explanation is offered."""
    event = ""
    while line := bytes(stream.readline(b"\n")):
        passed_s = round(time.time() - start_s, 4)
        if line.startswith(b"event: "):
            event = line.removeprefix(b"event: ").strip().decode()
        elif line.startswith(b"data: "):
            data = json.loads(line.removeprefix(b"data: "))
            if event in FIRST_WORDS:
                sample.setdefault("first_s", passed_s)
            if event == "answer":
                sample["seconds"] = sample["seconds"] or passed_s
            if event in {"answer", "done"}:
                sample["unsaved"] = not UNSAVED.isdisjoint(data.get("warnings", ()))
            if event == "sentence" and sample["seconds"]:
                sample.setdefault("words_s", passed_s)
            sample["begun"] = sample.get("begun", False) or event in BEGUN
            if event != "sentence" and data.get("eta_s"):
                sample.setdefault("eta_s", data["eta_s"])
                sample.setdefault("told_s", passed_s)
            if event == "done":
                sample["kind"] = data["kind"]
                if sample["begun"] and not data.get("warnings"):
                    sample["ended_s"] = passed_s
                return bool(data["explainable"]) and data["kind"] != "refusal"
        if sample["seconds"] and passed_s > EXPLAINED_S:
            return False
    sample["status"] = CUT_OFF
    return False


def _header(headers: Mapping[str, str] | Sequence[tuple[str, str]] | None, name: str) -> str:
    """A header in any case; empty if there is no reply."""
    pairs = headers.items() if isinstance(headers, Mapping) else headers or ()
    return next((value for key, value in pairs if key.lower() == name), "")


def _error(reply: object) -> str:
    """Why a reply did not come; empty if it did."""
    error = getattr(reply, "error", None)
    return repr(error) if error else ""
