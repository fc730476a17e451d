"""A language model as the judge of sentences, opened for an evaluation: whatever time it needs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from lutrin.ports import Support
from lutrin.settings import Settings

PATIENCE_S = 120.0


@asynccontextmanager
async def judge(settings: Settings) -> AsyncIterator[Support | None]:
    """The judge of the settings' model, with the odds of its tier; None where there is no model.

    Args:
        settings: `model` names it.

    Raises:
        InvalidSettings: There is no model of that name.
        ModelMissing: Its file is not here.
    """
    from lutrin.adapters.support_generated import GeneratedSupport  # noqa: PLC0415 - loads only for a model
    from lutrin.runtime.language_model import open_support  # noqa: PLC0415 - as said
    from lutrin.runtime.profile import open_model  # noqa: PLC0415 - as said

    generator = open_model(settings)
    if generator is None:
        yield None
        return
    try:
        await generator.start()
        given = open_support(settings, generator)
        yield GeneratedSupport(generator, patience_s=PATIENCE_S, threshold=given.threshold if given else 0.5)
    finally:
        await generator.close()
