"""A room of readers around the scheduler: a clock, a decoder that keeps time, and what everybody was told."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.fakes_generator import ScriptedDecoder, echo

from lutrin.generate.head import Head
from lutrin.generate.prefix import PassageStore
from lutrin.generate.scheduler import Limits, Output, Pace, Scheduler
from lutrin.ports import TokenRun
from lutrin.records import GenerationRequest, Message, Piece

SYSTEM = "You answer from the book alone, in short sentences, and cite it."
FOREVER = 1e9


@dataclass
class Clock:
    """Time that passes only when a test says so."""

    now: float = 0.0

    def __call__(self) -> float:
        """Seconds."""
        return self.now


class TimedDecoder(ScriptedDecoder):
    """Costs a second for each hundred tokens and a tenth of a second for each step, on the test's clock."""

    def __init__(self, clock: Clock, *, sequences: int, context_tokens: int, shares: bool) -> None:
        super().__init__(sequences=sequences, context_tokens=context_tokens, step_tokens=48, shares=shares)
        self.clock = clock
        self.steps = self.gentle = 0
        self.slowness = 1.0
        """How much longer everything takes, beside other programs."""

    def step(self, runs: Sequence[TokenRun], *, quietly: Callable[[], bool] | None = None) -> list[int | None]:
        """As its parent, but time passes, and steps are counted, quiet ones apart."""
        self.steps += 1
        self.gentle += quietly is not None
        self.clock.now += self.slowness * (0.1 + sum(len(run.tokens) for run in runs) / 100)
        return super().step(runs, quietly=quietly)


@dataclass
class Room:
    """A scheduler, its decoder and what its readers were told."""

    limits: Limits = field(default_factory=lambda: Limits(slots=3, queue=4, prefill_tokens=32, retained_tokens=200))
    sequences: int = 6
    context_tokens: int = 600
    shares: bool = True
    store: PassageStore | None = None
    head: Head | None = None
    told: dict[int, list[object]] = field(default_factory=dict)
    requests: dict[int, GenerationRequest] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.clock = Clock()
        self.decoder = TimedDecoder(
            self.clock,
            sequences=self.sequences,
            context_tokens=self.context_tokens,
            shares=self.shares,
        )
        self.scheduler = Scheduler(self.decoder, self.limits, self.clock, self.store, head=self.head)

    def ask(
        self,
        text: str,
        *,
        session: str = "",
        peer: str = "",
        max_tokens: int = 200,
        wait_s: float = FOREVER,
        between: tuple[str, str] | None = None,
        section: str = "",
    ) -> int:
        """Submit a question, after a section of the book; return the request's number."""
        id_ = len(self.requests) + 1
        request = asking(
            text, section, max_tokens=max_tokens, wait_s=wait_s, session=session, peer=peer, between=between
        )
        self.requests[id_] = request
        self.told[id_] = []
        self.scheduler.submit(id_, request, self.clock.now + wait_s)
        return id_

    def step(self) -> list[Output]:
        """One step, noted."""
        before = self.decoder.computed
        outputs = self.scheduler.step()
        most = self.limits.prefill_tokens + self.limits.slots * (1 + self.limits.guesses)
        assert self.decoder.computed - before <= most
        assert self.scheduler.running <= self.limits.slots
        # What the scheduler believes to be in memory is there, but for last tokens that were computed twice.
        written = sum(len(job.generated) for job in self.scheduler._running)
        assert self.decoder.cells() <= self.scheduler._tree.size + written + self.sequences
        for output in outputs:
            self.told[output.id].append(output.event)
        return outputs

    def drain(self, most_steps: int = 5000) -> int:
        """Step until nothing is left to do; return the number of steps."""
        for steps in range(most_steps):
            if not self.scheduler.busy:
                return steps
            self.step()
        raise AssertionError("somebody starves")

    def text(self, id_: int) -> str:
        """The text that a reader has received."""
        return "".join(event.text for event in self.told[id_] if isinstance(event, Piece))

    def last(self, id_: int) -> object:
        """The last word on a request."""
        return self.told[id_][-1]


def asking(
    text: str,
    section: str = "",
    *,
    max_tokens: int = 200,
    wait_s: float = FOREVER,
    session: str = "",
    peer: str = "",
    between: tuple[str, str] | None = None,
) -> GenerationRequest:
    """A request about a section of the book."""
    return GenerationRequest(
        messages=(Message(role="system", content=SYSTEM), Message(role="user", content=section + text)),
        max_tokens=max_tokens,
        deadline_s=wait_s,
        session_id=session,
        peer=peer,
        between=between,
        stable_chars=len(section),
    )


def expected(request: GenerationRequest) -> str:
    """The script's answer to a complete request."""
    return echo([message.content for message in request.messages])


class Keen(Pace):
    """Guesses as much as it may."""

    def guesses(self, answers: int, most: int) -> int:  # noqa: ARG002 - a rule that needs no number
        """All of them."""
        return most
