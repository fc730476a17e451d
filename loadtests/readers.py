"""Readers as Locust plays them: one class a scenario, each reader a session of its own with questions of its own.

`run.py` starts this file; by hand: `locust -f loadtests/readers.py --headless -u 10 -t 60s --host URL
--questions FILE --samples FILE Ten`. Each answer becomes a line of JSON in the file of samples (see `targets.Sample`).
"""

import itertools
import json
import random
import time
import uuid
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Protocol

from locust import FastHttpUser, events, task
from locust.env import Environment

TURN_S = 8.0
"""Readers of `ten` ask together whenever the clock shows a multiple of this; an answer takes at most half of it."""
BURST_S = 12.0
"""Time between two bursts of `class`."""
SPREAD_S = 2.0
"""Within this time of a burst's start every pupil has asked."""
PAUSE_S = (10.0, 20.0)
"""Of a reader of `hundred` between two questions."""
PATIENCE_S = 30.0
"""A reader who has waited this long counts as an error."""
RETRIEVE_EVERY = 5
"""Every so many questions a reader of `hundred` looks passages up, too."""
# The same question in other words is another question to the server, which answers an exact repeat from its memory.
OPENINGS = (
    "{}", "Please tell me: {}", "I would like to know: {}", "One question: {}", "Could you tell me? {}",
    "In the book: {}", "For my homework: {}", "According to the book: {}", "I need help with this: {}", "I wonder: {}",
)  # fmt: skip


class Reply(Protocol):
    """What Locust gives for a request that was answered."""

    text: str
    status_code: int


class Deck:
    """Questions in an order that no two readers share, each in every wording before any comes twice."""

    def __init__(self) -> None:
        self._questions: Iterator[str] = iter(())
        self._out: IO[str] | None = None
        self._began_s = 0.0

    def open(self, questions: Path, samples: Path) -> None:
        """Read the questions and begin the file of samples."""
        texts = json.loads(questions.read_text(encoding="utf-8"))
        random.Random(7).shuffle(texts)
        self._questions = itertools.cycle([opening.format(text) for opening in OPENINGS for text in texts])
        self._out = samples.open("w", encoding="utf-8")
        self._began_s = time.time()

    def draw(self) -> str:
        """The next question."""
        return next(self._questions)

    def note(self, **sample: object) -> None:
        """Write what became of a request."""
        if self._out is not None:
            self._out.write(json.dumps(sample) + "\n")
            self._out.flush()

    def since_s(self, start_s: float) -> float:
        """Seconds from the beginning of the run."""
        return start_s - self._began_s


DECK = Deck()


@events.init_command_line_parser.add_listener  # type: ignore[untyped-decorator]  # Locust's is not annotated
def add_options(parser: ArgumentParser) -> None:
    """What this file needs besides Locust's own options."""
    parser.add_argument("--questions", help="JSON array of questions")
    parser.add_argument("--samples", help="file that gets a line of JSON for each answer")


@events.init.add_listener  # type: ignore[untyped-decorator]  # as above
def open_deck(environment: Environment, **_: object) -> None:
    """Open the files once, before any reader asks."""
    options = environment.parsed_options
    if options is not None and options.questions:
        DECK.open(Path(options.questions), Path(options.samples))


@events.request.add_listener  # type: ignore[untyped-decorator]  # as above
def note(response_time: float, response: Reply, context: dict[str, str], start_time: float, **_: object) -> None:
    """Every request, answered or not, becomes a sample."""
    DECK.note(
        session=context.get("session", ""),
        what=context.get("what", ""),
        at_s=round(DECK.since_s(start_time), 3),
        seconds=round(response_time / 1000, 4),
        status=getattr(response, "status_code", 0) or 0,
        kind=_kind(response),
    )


class Reader(FastHttpUser):
    """A session that asks and waits."""

    abstract = True
    network_timeout = PATIENCE_S
    connection_timeout = PATIENCE_S

    def on_start(self) -> None:
        """Begin a session, as a browser does."""
        self.session = uuid.uuid4().hex

    def ask(self) -> None:
        """Put one question to the book."""
        body = {"query": DECK.draw(), "session_id": self.session}
        self.client.post("/api/query", json=body, context={"session": self.session, "what": "answer"})

    def look_up(self) -> None:
        """Ask for passages only."""
        self.client.post(
            "/api/retrieve", json={"query": DECK.draw()}, context={"session": self.session, "what": "retrieve"}
        )


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


class Steady(Reader):
    """Twenty readers with a question a second each, whatever the ingest beside them does."""

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


def _kind(response: Reply) -> str:
    """Of an answer; empty for everything else."""
    try:
        body = json.loads(response.text or "{}")
    except (AttributeError, ValueError):  # no reply at all, or none that is JSON
        return ""
    return str(body.get("kind") or "") if isinstance(body, dict) else ""
