"""What the model has said is kept by prompt and model, and its file is worth nothing to anybody else."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lutrin.answer.prompt import asked
from lutrin.answer.sayings import Page, Sayings

ARM, LEG = asked("The arm is light."), asked("The leg is heavy.")
PAGE = Page(recipe="r", filename="01.md", sha256="0" * 64)


@pytest.fixture
def sayings(tmp_path: Path) -> Iterator[Sayings]:
    """Of a model that has said nothing."""
    opened = Sayings(tmp_path / "said.db", "m")
    yield opened
    opened.close()


async def test_what_was_said_is_known_afterwards(sayings: Sayings, tmp_path: Path) -> None:
    """Also that nothing came, to other processes, and after a restart; the last word counts."""
    assert await sayings.known([ARM, LEG]) == {}
    await sayings.keep(ARM, ["Arms weigh little."])
    await sayings.keep(LEG, [])
    assert await sayings.known([ARM, LEG]) == {ARM: ["Arms weigh little."], LEG: []}
    await sayings.keep(ARM, ["An arm weighs little."])
    other = Sayings(tmp_path / "said.db", "m")
    assert await other.known([ARM]) == {ARM: ["An arm weighs little."]}
    other.close()


async def test_another_model_has_said_nothing(sayings: Sayings, tmp_path: Path) -> None:
    """Neither sentences nor pages are taken for its own."""
    await sayings.keep(ARM, ["Arms weigh little."])
    await sayings.finish(PAGE)
    other = Sayings(tmp_path / "said.db", "another")
    assert await other.known([ARM]) == {}
    assert not await other.is_finished(PAGE)
    other.close()


async def test_a_page_is_finished_as_it_is_now(sayings: Sayings) -> None:
    """With other words in it, or cut otherwise, it is another one."""
    assert not await sayings.is_finished(PAGE)
    await sayings.finish(PAGE)
    assert await sayings.is_finished(PAGE)
    assert not await sayings.is_finished(Page(recipe="r", filename="01.md", sha256="1" * 64))
    assert not await sayings.is_finished(Page(recipe="s", filename="01.md", sha256="0" * 64))


async def test_the_oldest_leave_when_there_are_too_many(sayings: Sayings, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file does not grow for ever."""
    monkeypatch.setattr("lutrin.answer.sayings.KEPT", 2)
    prompts = [asked(f"The arm lifts {n} kg.") for n in range(4)]
    for prompt in prompts:
        await sayings.keep(prompt, ["It does."])
    assert set(await sayings.known(prompts)) == set(prompts[2:])


async def test_a_file_that_is_no_database_is_begun_anew(tmp_path: Path) -> None:
    """It holds nothing that cannot be said again."""
    (tmp_path / "said.db").write_bytes(b"no database at all" * 100)
    sayings = Sayings(tmp_path / "said.db", "m")
    await sayings.keep(ARM, ["Arms weigh little."])
    assert await sayings.known([ARM]) == {ARM: ["Arms weigh little."]}
    sayings.close()


async def test_a_folder_that_cannot_be_used_costs_nobody_an_answer(tmp_path: Path) -> None:
    """Then nothing is known, and nothing kept."""
    sayings = Sayings(tmp_path / "missing" / "said.db", "m")
    await sayings.keep(ARM, ["Arms weigh little."])
    await sayings.finish(PAGE)
    assert await sayings.known([ARM]) == {}
    assert not await sayings.is_finished(PAGE)
    sayings.close()
