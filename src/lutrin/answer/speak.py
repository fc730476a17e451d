"""Has the model say what answers a question, in words that the quotes support."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress

from lutrin import messages
from lutrin.answer.compose import SentenceStream, Verified, stands_twice
from lutrin.answer.draft import Draft, supported
from lutrin.answer.prompt import Prompt, prompts, sayable, worth_of
from lutrin.answer.quote import Quote
from lutrin.answer.sayings import Sayings
from lutrin.answer.traffic import Traffic
from lutrin.errors import DeadlineExceeded, GeneratorError
from lutrin.log import get_logger
from lutrin.ports import Generator
from lutrin.records import Finished, GenerationRequest, Piece, Queued, QueuedEvent
from lutrin.retrieve.search import Found
from lutrin.settings import Settings

MARGIN_S = 0.2
"""Kept of the deadline for what comes after the last generated token, ten answers being put together at once."""
QUOTES_FIRST_S = 0.3
"""The model begins when nobody waits for quotes any more, or after so long: with ten who ask at once, the first one's
sentences would cost the other nine their quotes, and the model does not know yet how many share its time."""
LOOK_S = 0.05
"""Between looks at how long those wait who came together."""


class Speaker:
    """The model's part of an answer.

    Args:
        generator: The language model.
        settings: Deadline and length.
        traffic: Who else is being answered.
        clock: Seconds that only grow; the clock of `Draft.started`.
        sayings: What it has said of the book before; None: nothing is kept.
    """

    def __init__(
        self,
        generator: Generator,
        settings: Settings,
        traffic: Traffic,
        clock: Callable[[], float],
        sayings: Sayings | None = None,
    ) -> None:
        self.name = generator.name
        self._generator = generator
        self._settings = settings
        self._traffic = traffic
        self._clock = clock
        self._sayings = sayings
        self._log = get_logger("answer")

    async def sentences(
        self, draft: Draft, quotes: Sequence[Quote], found: Found
    ) -> AsyncGenerator[QueuedEvent | Verified, None]:
        """Sentences that the quotes support; why there are none goes into the draft's warnings.

        What the model has said of the best passage before is said again. Else it is asked, once; if nothing comes of
        that, what it said of another passage that answers nearly as well has its place.
        """
        prose = sayable(quotes)
        choices = prompts(prose, worth_of(found))
        # What a reader has selected is no passage of the book, and is kept nowhere.
        sayings = self._sayings if draft.mode != "selection" else None
        known = await sayings.known(choices) if sayings is not None and choices else {}
        was_asked = False
        for prompt in choices:
            sure = _Sure(draft, prose, quotes)
            if prompt in known:
                for verified in sure.of(known[prompt]):
                    yield verified
            elif not was_asked:
                was_asked = True
                async with aclosing(self._asked(draft, prompt, sure, sayings)) as events:
                    async for event in events:
                        yield event
            if sure.given:
                draft.prompt = prompt
                return

    async def _asked(
        self, draft: Draft, prompt: Prompt, sure: "_Sure", sayings: Sayings | None
    ) -> AsyncGenerator[QueuedEvent | Verified, None]:
        """What the model says now, as far as it is sure."""
        draft.prompt = prompt
        with suppress(TimeoutError):
            async with asyncio.timeout(QUOTES_FIRST_S):
                await self._traffic.all_quoted()
        left_s = max(self._settings.deadline_s - (self._clock() - draft.started) - MARGIN_S, 0.0)
        request = GenerationRequest(
            messages=prompt,
            max_tokens=self._settings.answer_tokens,
            deadline_s=left_s,
            session_id=draft.question.session_id,
            readers=self._traffic.readers,
        )
        texts: list[str] = []
        try:
            async with aclosing(sentences_of(self._generator, request)) as stream:
                end_s = asyncio.get_running_loop().time() + left_s
                while True:
                    # The time limit stands around this step alone: what the reader does between two events is not ours.
                    async with self._patience(draft.started, end_s):
                        item = await anext(stream, None)
                    match item:
                        case None:
                            break
                        case Queued():
                            yield QueuedEvent(position=item.position, eta_s=item.eta_s)
                        case Finished():
                            if sayings is not None and item.reason in {"stop", "length"} and texts:
                                await sayings.keep(prompt, texts)
                        case str():
                            texts.append(item)
                            for verified in sure.of([item]):
                                yield verified
        except (TimeoutError, DeadlineExceeded):
            if not sure.said:
                draft.warnings.append(messages.PAST_DEADLINE)
        except GeneratorError as error:
            self._log.warning("generator_failed", error=error.detail)
            if not sure.said:
                draft.warnings.append(messages.MODEL_AWAY)

    @asynccontextmanager
    async def _patience(self, started_s: float, end_s: float) -> AsyncIterator[None]:
        """Until the deadline, or until it has been twice as long as for the others of a crowd.

        Raises:
            TimeoutError: It is over.
        """
        loop = asyncio.get_running_loop()
        next_look: asyncio.TimerHandle | None = None
        async with asyncio.timeout_at(end_s) as limit:

            def look() -> None:
                nonlocal next_look
                if self._clock() - started_s < self._traffic.fair_wait_s(started_s):
                    next_look = loop.call_later(LOOK_S, look)
                elif not limit.expired():
                    limit.reschedule(loop.time())

            look()
            try:
                yield
            finally:
                if next_look is not None:
                    next_look.cancel()


class _Sure:
    """Lets through what the quotes support and do not say themselves, word for word, below it."""

    def __init__(self, draft: Draft, prose: Sequence[Quote], quotes: Sequence[Quote]) -> None:
        self._draft = draft
        self._prose = prose
        self._quotes = quotes
        self.said: list[str] = []
        """Sentences that were supported, without capitals."""
        self.given: list[str] = []
        """Sentences that were let through."""

    def of(self, texts: Sequence[str]) -> list[Verified]:
        """Those of some sentences that are let through."""
        found = []
        for verified in (
            item for text in texts for item in supported([text], self._prose, self._draft.text, self.said)
        ):
            if stands_twice(verified.text, " ".join(self.given), self._quotes):
                self.said.remove(verified.text.casefold())
            else:
                self.given.append(verified.text)
                found.append(verified)
        return found


async def sentences_of(
    generator: Generator, request: GenerationRequest
) -> AsyncGenerator[Queued | str | Finished, None]:
    """Whole sentences of the model as they come, then how it ended; one that was cut in the middle is left out."""
    cutter = SentenceStream()
    async with aclosing(generator.stream(request)) as stream:
        async for event in stream:
            match event:
                case Queued():
                    yield event
                case Piece(text=piece):
                    for sentence in cutter.feed(piece):
                        yield sentence
                case Finished():
                    for sentence in cutter.finish() if event.reason == "stop" else ():
                        yield sentence
                    yield event
