"""Ask a stored question again with its conversation, its settings and, if it still exists, its index generation."""

from contextlib import AsyncExitStack

import msgspec

from lutrin.adapters.memory_chat import MemoryChatStore
from lutrin.answer.flow import AnswerFlow
from lutrin.errors import IndexUnavailable, NotFound
from lutrin.index.shelf import PinnedShelf
from lutrin.language.gate import LanguageGate
from lutrin.log import configure_logging
from lutrin.records import DoneEvent, Made
from lutrin.runtime.differences import Replayed
from lutrin.runtime.profile import open_chats, open_store
from lutrin.runtime.wiring import opened
from lutrin.settings import Settings
from lutrin.study.prepared import PreparedAnswers

AGAIN = "replay"
"""Id of the conversation in which the question is asked again; it exists in memory only."""


async def replay(settings: Settings, message_id: str) -> Replayed:
    """Ask the question of a stored answer again.

    Args:
        settings: Name the folders. Settings that influence answers are taken from the stored answer.

    Raises:
        NotFound: There is no such answer, or it does not say how it was made.
        IndexUnavailable: No book can be opened.
    """
    configure_logging(settings, quiet=True)
    chats = await open_chats(settings)
    try:
        *before, stored = await chats.conversation_of(message_id)
    finally:
        await chats.close()
    then = stored.made
    if then is None:
        raise NotFound(f"The message {message_id} does not say how it was made: it is a question, or an old answer.")
    as_then = _settings_of(then, settings)
    conversation = MemoryChatStore()
    # The newest message is the question itself.
    await conversation.append(AGAIN, before[:-1])
    async with opened(as_then) as runtime, AsyncExitStack() as stack:
        if runtime.generator is not None:
            await runtime.generator.start()
        shelf = await _pinned(then, as_then, stack)
        flow = AnswerFlow(
            shelf=shelf or runtime.shelf,
            searcher=runtime.searcher,
            language=LanguageGate(as_then.languages),
            settings=as_then,
            generator=runtime.generator,
            ability=runtime.answers.ability,
            prepared=PreparedAnswers(runtime.searcher, own_words=as_then.own_words),
            chats=conversation,
        )
        asked = msgspec.structs.replace(then.question, session_id=AGAIN)
        (done,) = [event async for event in flow.answer(asked) if isinstance(event, DoneEvent)]
    if done.made is None:
        raise TypeError("an answer says how it was made")
    return Replayed(stored=stored, then=then, now=done.answer, made=done.made, is_same_index=shelf is not None)


async def _pinned(made: Made, settings: Settings, stack: AsyncExitStack) -> PinnedShelf | None:
    """Open the generation that answered then, if its folder is still whole."""
    found = sorted(settings.books_dir.glob(f"*/{made.generation}")) if made.generation else []
    if not found:
        return None
    shelf = PinnedShelf(found[0], settings.catalog_path, open_store(settings))
    try:
        return await stack.enter_async_context(shelf)
    except IndexUnavailable:
        return None


def _settings_of(made: Made, settings: Settings) -> Settings:
    """Return the settings of that time; names that this version does not know are left out."""
    known = {name: value for name, value in made.settings.items() if name in Settings.model_fields}
    return settings.model_copy(update={name: _as(getattr(settings, name), value) for name, value in known.items()})


def _as(now: object, value: str) -> object:
    """Convert a value that was stored as text to the type of the present one."""
    return value == "True" if isinstance(now, bool) else type(now)(value)  # type: ignore[call-arg]  # of str, int, float
