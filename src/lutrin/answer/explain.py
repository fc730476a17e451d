"""The explanation: the model answers the question from the passages, and each sentence is checked before it is sent."""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field

from lutrin import messages
from lutrin.answer.ability import Ability
from lutrin.answer.plan import Plan
from lutrin.answer.prompt import NOT_IN_BOOK, OWN_WORDS, Prompt
from lutrin.answer.traffic import Traffic
from lutrin.answer.verify import Verifier, is_sentence, marked
from lutrin.errors import DeadlineExceeded, GeneratorError
from lutrin.ingest.sentences import sentence_ranges
from lutrin.log import get_logger
from lutrin.ports import Generator
from lutrin.records import Finished, GenerationRequest, Piece, Queued, QueuedEvent
from lutrin.settings import Settings

MARGIN_S = 0.2
"""Reserved for finishing work after the last generated token, while ten answers are put together."""
QUEUE_S = 60.0
"""So long a reader who has asked for an explanation waits in the model's queue."""
LEAST_SHARE = 1 / 3
"""If fewer of the model's sentences hold, the rest is not worth showing: the answer is the excerpts."""
MOST_OWN = 3
"""Sentences in the model's own words."""
_ENDS = (".", "!", "?", ":", '"', "\u201d", ")", "*", "`", "]")
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
"""What some models think aloud before they answer."""
_BEGUN = re.compile(r"<(?:t(?:h(?:i(?:nk?)?)?)?)?\Z")
"""What may turn out to be the beginning of a thought."""


@dataclass(frozen=True, slots=True)
class Explained:
    """A whole sentence of the model: as it wrote it, then as the book supports it or as it is marked as its own."""

    text: str
    citations: tuple[int, ...] = ()
    """Numbers of the passages that state it; none before it is checked."""
    own: bool = False
    """Whether it stands below the line that announces the model's own words."""


@dataclass(slots=True)
class Explanation:
    """The sentences that were shown, and why there are no more."""

    sentences: list[Explained] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    """What the reader should know."""
    judged: int = 0
    """Sentences that were checked."""
    is_cut: bool = False
    """Whether the model was stopped by the length that it was given."""
    sums: list[str] = field(default_factory=list)
    """Calculations that were found right; what follows may use their results."""

    @property
    def holds(self) -> bool:
        """Whether enough of what the model said is left."""
        kept = sum(not one.own for one in self.sentences)
        return kept > 0 and kept >= LEAST_SHARE * self.judged


class Explainer:
    """The model's part of an answer.

    Args:
        generator: The language model.
        settings: Deadlines and length.
        traffic: Who else is being answered.
        clock: Seconds that only grow.
        verifier: Checks each sentence; None: by the rules for literals alone, which let none through.
        ability: What the model may be asked.
    """

    def __init__(
        self,
        generator: Generator,
        settings: Settings,
        traffic: Traffic,
        clock: Callable[[], float],
        *,
        verifier: Verifier | None = None,
        ability: Ability | None = None,
    ) -> None:
        self.name = generator.name
        self.ability = ability or Ability()
        self._generator = generator
        self._verifier = verifier or Verifier()
        self._settings = settings
        self._traffic = traffic
        self._clock = clock
        self._log = get_logger("answer")

    async def sentences(
        self, plan: Plan, prompt: Prompt, started: float, explanation: Explanation
    ) -> AsyncGenerator[QueuedEvent | Explained, None]:
        """Sentences that may be shown; they, and why there are no more, are added to `explanation`.

        Args:
            plan: Of the answer.
            prompt: From `prompt_of`.
            started: When the question came, by the clock.
            explanation: Empty.
        """
        await self._excerpts_first(started)
        asked = plan.query.question
        wait_s = QUEUE_S if asked.explain else self._settings.explain_s
        wait_s = min(wait_s, asked.wait_s) if asked.wait_s is not None else wait_s
        left_s = max(wait_s - (self._clock() - started) - MARGIN_S, 0.0)
        longest = min(self._settings.answer_tokens, self.ability.answer_tokens)
        request = GenerationRequest(
            messages=prompt.messages,
            max_tokens=min(longest, asked.answer_tokens or longest),
            deadline_s=left_s,
            session_id=asked.session_id,
            stop=(NOT_IN_BOOK,),
        )
        try:
            async with asyncio.timeout(left_s), aclosing(sentences_of(self._generator, request)) as stream:
                async for item in stream:
                    if isinstance(item, Queued):
                        yield QueuedEvent(position=item.position, eta_s=item.eta_s)
                    elif isinstance(item, Finished):
                        explanation.is_cut = item.reason == "length"
                    else:
                        async for sentence in self._checked(item, plan, prompt, explanation):
                            yield sentence
        except (TimeoutError, DeadlineExceeded):
            if not explanation.sentences:
                explanation.warnings.append(messages.PAST_DEADLINE)
        except GeneratorError as error:
            self._log.warning("generator_failed", error=error.detail)
            if not explanation.sentences:
                explanation.warnings.append(messages.MODEL_AWAY)

    async def _excerpts_first(self, started: float) -> None:
        """Let everybody have excerpts before the model takes the processor, for as long as these may take."""
        with suppress(TimeoutError):
            async with asyncio.timeout(max(self._settings.deadline_s - (self._clock() - started), 0.0)):
                await self._traffic.all_quoted()

    async def _checked(
        self, text: Explained, plan: Plan, prompt: Prompt, explanation: Explanation
    ) -> AsyncGenerator[Explained, None]:
        """The sentence, if it may be shown now."""
        said = [one.text.casefold() for one in explanation.sentences]
        if text.own:
            own = [one for one in explanation.sentences if one.own]
            _, bare = marked(text.text)
            allowed = self._settings.own_words and self.ability.own_words and not plan.guarded
            fits = len(own) < MOST_OWN and explanation.holds and bare.casefold() not in said
            shown = [chunk for _, chunk in prompt.shown]
            if allowed and fits and self._verifier.may_be_own(bare, shown, plan.query.text):
                explanation.sentences.append(Explained(bare, own=True))
                yield explanation.sentences[-1]
            return
        explanation.judged += is_sentence(marked(text.text)[1])
        found = await self._verifier.cited(text.text, prompt.shown, plan.query.text, said, explanation.sums)
        if found is not None:
            explanation.sentences.append(Explained(*found))
            yield explanation.sentences[-1]


class SentenceStream:
    """Cuts a stream of text into whole sentences and leaves out what the model thinks aloud."""

    def __init__(self) -> None:
        self._text = ""
        self._used = 0

    def feed(self, piece: str) -> list[str]:
        """Return the sentences that are now complete. A sentence is complete once the next one has begun."""
        self._text += piece
        pending = _BEGUN.sub("", _THOUGHT.sub("", self._text))[self._used :]
        ranges = sentence_ranges(pending)
        if len(ranges) > 1:
            self._used += ranges[-1][0]
        return [pending[start:end] for start, end in ranges[:-1]]

    def finish(self) -> list[str]:
        """Return the rest once the model has stopped by itself, with its missing full stop added."""
        pending = _THOUGHT.sub("", self._text)[self._used :]
        rest = [pending[start:end] for start, end in sentence_ranges(pending)]
        return [text if text.endswith(_ENDS) else f"{text}." for text in rest if any(map(str.isalnum, text))]


async def sentences_of(
    generator: Generator, request: GenerationRequest
) -> AsyncGenerator[Queued | Explained | Finished, None]:
    """Yield the model's sentences as they are completed, then how it ended; drop one that was cut off.

    What a model thinks aloud, between `<think>` and `</think>`, is no sentence of its answer.
    """
    cutter, own = SentenceStream(), False

    def taken(texts: list[str]) -> list[Explained]:
        nonlocal own
        found = []
        for text in texts:
            _, mark, rest = text.partition(OWN_WORDS)
            own = own or bool(mark)
            if bare := (rest if mark else text).strip(" *_\n"):
                found.append(Explained(bare if mark else text, own=own))
        return found

    async with aclosing(generator.stream(request)) as stream:
        async for event in stream:
            match event:
                case Queued():
                    yield event
                case Piece(text=piece):
                    for sentence in taken(cutter.feed(piece)):
                        yield sentence
                case Finished():
                    for sentence in taken(cutter.finish() if event.reason == "stop" else []):
                        yield sentence
                    yield event
