"""While nobody asks, the model says the book's passages ahead, so that a whole class finds them said.

Ten sentences at once are more than two cores compute in three seconds; but what the model says of a passage depends on
the passage alone (`prompt.py`), and books stand still. So it is said once, whenever there is time, and kept
(`sayings.py`), page by page in reading order. A reader who comes interrupts this within one step of the model.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import aclosing, suppress

from lutrin.answer.prompt import Prompt, every_prompt
from lutrin.answer.sayings import Page, Sayings
from lutrin.answer.speak import sentences_of
from lutrin.answer.traffic import Traffic
from lutrin.errors import GeneratorError, IndexUnavailable, NotFound
from lutrin.index.shelf import Shelf
from lutrin.log import get_logger
from lutrin.ports import Generator
from lutrin.records import Finished, GenerationRequest

QUIET_S = 2.0
"""After the last answer, before the model goes on."""
POLL_S = 10.0
"""Between looks for new books, and after trouble with the model."""
AT_ONCE = 4
"""Passages that are said together: four rows of a step cost as much as two (docs/decisions/0010)."""
PATIENCE_S = 60.0
"""For one passage."""


class ReadAhead:
    """Has the model say what is on the shelf.

    Args:
        shelf: Open books.
        generator: The language model.
        sayings: Where its sentences are kept.
        traffic: Who is being answered.
        answer_tokens: Longest answer, as readers get it.
        quiet_s: How long nobody may have asked.
    """

    def __init__(
        self,
        shelf: Shelf,
        generator: Generator,
        sayings: Sayings,
        traffic: Traffic,
        *,
        answer_tokens: int,
        quiet_s: float = QUIET_S,
    ) -> None:
        self._shelf = shelf
        self._generator = generator
        self._sayings = sayings
        self._traffic = traffic
        self._answer_tokens = answer_tokens
        self._quiet_s = quiet_s
        self._failed: set[Prompt] = set()
        self._log = get_logger("answer")
        self.pages = (0, 0)
        """How many pages of the books were said, and how many there are."""

    async def run(self) -> None:
        """Say what is there and what comes, until cancelled."""
        said: list[str] = []
        while True:
            there = [generation.name for generation in self._shelf.books()]
            try:
                if there != said:
                    await self.finish()
                    said = there
            except GeneratorError as error:
                self._log.info("ahead.waits", error=error.detail)
            await asyncio.sleep(POLL_S)

    async def finish(self, note: Callable[[int, int], None] = lambda _done, _of: None) -> None:
        """Say all that is not said yet.

        Args:
            note: Told how many pages are done, and of how many, after each.

        Raises:
            GeneratorError: The model is away; what was said is kept.
        """
        pages = await self._pages()
        self.pages = (0, len(pages))
        for number, (slug, page) in enumerate(pages, 1):
            if not await self._sayings.is_finished(page):
                await self._read(slug, page)
                await self._sayings.finish(page)
            self.pages = (number, len(pages))
            note(*self.pages)

    async def _pages(self) -> list[tuple[str, Page]]:
        """Every page of every book, with the book's slug."""
        found: list[tuple[str, Page]] = []
        for slug in [generation.book.slug for generation in self._shelf.books()]:
            with suppress(NotFound, IndexUnavailable):
                async with self._shelf.lease(slug) as generation:
                    recipe = generation.manifest.recipe
                    found += [(slug, Page(recipe, file.filename, file.sha256)) for file in await generation.files()]
        return found

    async def _read(self, slug: str, page: Page) -> None:
        """Say a page's passages; one whose book is gone meanwhile has none."""
        with suppress(NotFound, IndexUnavailable):
            async with self._shelf.lease(slug) as generation:
                chunks = await generation.chunks_of(page.filename)
            prompts = list(dict.fromkeys(prompt for chunk in chunks for prompt in every_prompt(chunk)))
            known = await self._sayings.known(prompts)
            left = deque(prompt for prompt in prompts if prompt not in known and prompt not in self._failed)
            while left:
                await self._quiet()
                await self._until_somebody_asks(left)

    async def _quiet(self) -> None:
        """Wait until nobody has asked for a while, and the model is there."""
        served = -1
        while served != self._traffic.served or self._traffic.readers or not await self._generator.ready():
            served = self._traffic.served
            await asyncio.sleep(self._quiet_s)

    async def _until_somebody_asks(self, left: "deque[Prompt]") -> None:
        """Say passages, and take them from those that are left, until all are said or a reader comes."""
        workers = [asyncio.create_task(self._work(left)) for _ in range(min(AT_ONCE, len(left)))]
        tasks = [asyncio.create_task(self._traffic.arrival()), asyncio.create_task(_all_of(workers))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (*tasks, *workers):
                task.cancel()
            results = await asyncio.gather(*workers, *tasks, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception):
                raise result

    async def _work(self, left: "deque[Prompt]") -> None:
        while left:
            prompt = left.popleft()
            try:
                await self._sayings.keep(prompt, await self._said(prompt))
            except asyncio.CancelledError:
                left.appendleft(prompt)
                raise
            except GeneratorError:
                # Perhaps it is this passage that the model cannot bear: it is not tried again before the next start.
                self._failed.add(prompt)
                raise

    async def _said(self, prompt: Prompt) -> list[str]:
        """The model's sentences; none if it came to no end."""
        request = GenerationRequest(messages=prompt, max_tokens=self._answer_tokens, deadline_s=PATIENCE_S)
        texts: list[str] = []
        async with aclosing(sentences_of(self._generator, request)) as stream:
            async for item in stream:
                if isinstance(item, str):
                    texts.append(item)
                elif isinstance(item, Finished) and item.reason not in {"stop", "length"}:
                    return []
        return texts


async def _all_of(tasks: Sequence["asyncio.Task[None]"]) -> None:
    """Wait for all, or for the first that fails."""
    for task in asyncio.as_completed(tasks):
        await task
