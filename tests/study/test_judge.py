"""Whether a card serves a pupil, as the model says."""

from collections.abc import AsyncGenerator
from functools import partial

import pytest
from tests.fakes_generator import ScriptedGenerator

from lutrin.records import Finished, GenerationEvent, GenerationRequest, Piece
from lutrin_teacher.judge import objection

PASSAGE = "Bees\nSmoke calms the bees before the hive is opened."


class Service(ScriptedGenerator):
    """A model that reports no probabilities, or always the same."""

    odds: float | None = None

    async def stream(self, request: GenerationRequest) -> AsyncGenerator[GenerationEvent, None]:
        """Yield the script's answer."""
        yield Piece(self._script([message.content for message in request.messages]))
        yield Finished("stop", 0, 1, odds=self.odds)


@pytest.mark.parametrize("kind", [ScriptedGenerator, Service])
async def test_only_a_plain_yes_keeps_a_card(kind: type[ScriptedGenerator]) -> None:
    """A service's word counts as a local model's odds do; who hesitates says no."""
    assert await objection(kind(lambda _: "Yes."), PASSAGE, "What calms the bees?", "Smoke.") == ""
    for said in ("Probably yes.", "", "It depends.", "NO, yes"):
        judge = kind(partial(str.format, said))
        assert await objection(judge, PASSAGE, "What calms the bees?", "Smoke.") == "not clear by itself"
    judge = kind(lambda texts: "NO" if "\nAnswer: " in texts[-1] else "YES")
    assert await objection(judge, PASSAGE, "What calms the bees?", "The hive.") == "not what was asked"


async def test_a_doubtful_yes_keeps_no_card() -> None:
    """Even odds are far from the least probability."""
    generator = Service(lambda _: "Yes.")
    generator.odds = 2.0
    assert await objection(generator, PASSAGE, "What calms the bees?", "Smoke.")


async def test_a_judge_that_is_away_keeps_no_card() -> None:
    """Unchecked cards are not shown."""
    generator = ScriptedGenerator(lambda _: "Yes.")
    generator.away = True
    assert await objection(generator, PASSAGE, "What calms the bees?", "Smoke.")
