"""The model says the books for a command, as it does for a server while nobody asks."""

from collections.abc import Callable

from lutrin.log import configure_logging
from lutrin.settings import Settings
from lutrin.wiring import opened


async def read_ahead(settings: Settings, note: Callable[[int, int], None]) -> bool:
    """Have the model say the books, as a server does while nobody asks.

    Args:
        settings: Say where books and model lie.
        note: Told how many pages are done, and of how many.

    Returns:
        Whether there is a model whose words are kept.

    Raises:
        IndexUnavailable: No book can be read.
        GeneratorError: The model is away; what it said is kept.
    """
    configure_logging(settings, quiet=True)
    async with opened(settings) as house:
        ahead = house.reading_ahead(quiet_s=0.0)
        if ahead is None or house.generator is None:
            return False
        async with house.shelf.lease():
            await house.generator.start()
            await ahead.finish(note)
        return True
