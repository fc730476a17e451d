"""Search in one book: what may answer is a candidate, once; where the reader is counts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tests.fakes import WordHashEmbedder

from lutrin.index.generation import OpenGeneration
from lutrin.ports import Judgement, Ranking, Reading, View
from lutrin.query.understand import Query
from lutrin.records import ChatMessage, Unit
from lutrin.search.extremes import Column, columns
from lutrin.search.result import FAR, is_far
from lutrin.search.search import ENCODED_TOKENS, LONGEST_TOKENS, Gathered, Searcher

from .conftest import SAME, Search, asked, files

EGGS = "How many eggs does the queen lay in a day?"
NEEDS = "Which bees need flowers?"


async def test_what_asks_is_no_answer(search: Search) -> None:
    """An exercise has the words of the question, and is left out all the same."""
    found = files(await search(EGGS))
    assert found[0] in {"01-queen", "02-again"}
    assert not {"03-tasks", "04-quiz"} & set(found)


async def test_a_question_of_signs_is_no_longer_than_a_marked_page() -> None:
    """Its first tokens are searched for, and many such questions take no more memory than many others."""
    searcher = Searcher(WordHashEmbedder())
    for number in range(30):
        long, short = await searcher.encode([f"{number} " + "1+" * 3000, EGGS])
        assert len(long.token_offsets) == LONGEST_TOKENS
        assert len(short.token_offsets) == 11
    remembered = sum(len(one.token_offsets) for one in searcher._encoded.values())
    assert LONGEST_TOKENS < remembered <= ENCODED_TOKENS


async def test_who_wants_a_quiz_gets_one(search: Search) -> None:
    """Then it is what was asked for."""
    assert "04-quiz" in files(await search("Give me a quiz on how old a queen may become, five years or six"))


async def test_what_alone_answers_is_found_in_an_exercise_too(search: Search) -> None:
    """A fact that an author put there."""
    found = await search("What is the record for the marble run?")
    assert files(found)[0] == "05-record"


async def test_who_asks_for_the_exercises_gets_them(search: Search) -> None:
    """The heading is what was asked for; within the chapter that is named."""
    found = await search("What are the exercises of chapter 1?", chapter="Chapter 1: Hive")
    assert {"03-tasks", "05-record"} <= set(files(found))
    found = await search("Are there exercises?")
    assert files(found)[:2] == ["03-tasks", "05-record"]
    assert found.odds > 0
    # Everyday words ask for something else.
    assert (await search("What is the best exercise for the back?")).odds < 0


async def test_words_in_another_form_are_not_lacked(generation: OpenGeneration) -> None:
    """Of two questions that differ in one word, the one whose word no page has is less likely answered."""
    embedder = WordHashEmbedder()
    embedder.reading = Reading(scope=(0.0, 0.0, -4.0, 0.0, 2.0))  # the share of words that are lacked decides alone
    searcher = Searcher(embedder)
    inflected, lacked = [
        (await searcher.search([generation], asked(f"What does a {word} burn?"), k=5)).odds
        for word in ("smokers", "dragon")
    ]
    assert inflected == pytest.approx(2.0)
    assert lacked < 1.0
    assert is_far(2.0, found=False)


async def test_the_words_of_a_passage_count_as_the_reader_weighs_them(generation: OpenGeneration) -> None:
    """The passage that has most of a question's words gains the whole weight, one without any gains nothing."""
    embedder = WordHashEmbedder()
    without = await Searcher(embedder).search([generation], asked("What calms the bees?"), k=9)
    embedder.reading = replace(embedder.reading, lexical=3.0)
    weighed = await Searcher(embedder).search([generation], asked("What calms the bees?"), k=9)
    before = {item.chunk.chunk_id: item.score for item in without.parts[0].passages}
    gained = {item.chunk.chunk_id: item.score - before[item.chunk.chunk_id] for item in weighed.parts[0].passages}
    assert max(gained.values()) == pytest.approx(3.0, abs=1e-4)
    assert min(gained.values()) < 1.0


async def test_a_repeat_appears_once(search: Search) -> None:
    """Two pages say the same; one of them is shown."""
    found = await search(EGGS)
    assert sum(SAME in passage.chunk.text for passage in found.passages) == 1


@pytest.mark.parametrize("page", ["01-chapter-1-hive/01-queen.md", "01-chapter-1-hive/02-again.md"])
async def test_of_repeats_the_one_on_the_reader_s_page_is_shown(search: Search, page: str) -> None:
    """Its link leads where the reader is."""
    found = await search(EGGS, page=page)
    assert [passage.chunk.filename for passage in found.passages if SAME in passage.chunk.text] == [page]


@pytest.mark.parametrize("page", ["02-chapter-2-summer/01-frame.md", "02-chapter-2-summer/02-crate.md"])
async def test_among_equals_the_page_of_the_reader_comes_first(search: Search, page: str) -> None:
    """Whichever of them it is."""
    assert (await search(NEEDS, page=page)).passages[0].chunk.filename == page


async def test_the_page_of_the_reader_does_not_outweigh_the_answer(search: Search) -> None:
    """It only decides among equals."""
    assert files(await search("What does a smoker burn?", page="02-chapter-2-summer/01-frame.md"))[0] == "03-smoke"


async def test_a_selection_s_own_passage_comes_first(search: Search) -> None:
    """Though another page says the same in another order."""
    selected = "Summer needs rain. Bees need flowers. Honey needs wax."
    found = files(await search("What do bees need?", selected_text=selected))
    assert found[0] == "02-crate"
    assert files(await search("What does this mean?", selected_text=selected))[0] == "02-crate"


async def test_a_follow_up_keeps_what_the_answer_before_rested_on(search: Search) -> None:
    """The passages of the previous answer stay candidates."""
    first = await search("What does a smoker burn?")
    cited = first.passages[0].chunk
    history = [
        ChatMessage(id="1", session_id="s", role="user", text="What does a smoker burn?", created=""),
        ChatMessage(id="2", session_id="s", role="assistant", text=cited.text, created="", chunk_ids=(cited.chunk_id,)),
    ]
    query = asked("And why?", *history)
    assert query.follows == (cited.chunk_id,)
    found = await search("And why?", *history)
    assert cited.chunk_id in {passage.chunk.chunk_id for passage in found.passages}


async def test_several_things_are_searched_for_each_by_itself(search: Search) -> None:
    """The first passages of both are among the first."""
    found = await search("How long does a queen live, and what does a smoker burn?")
    assert [part.passages[0].chunk.filename.split("/")[-1] for part in found.parts] == ["01-queen.md", "03-smoke.md"]
    assert set(files(found)[:2]) == {"01-queen", "03-smoke"}


async def test_a_filter_holds(generation: OpenGeneration) -> None:
    """Nothing from another chapter, however few passages are left."""
    where = {"chapter": next(file.chapter for file in generation.files if "summer" in file.filename)}
    searcher = Searcher(WordHashEmbedder())
    found = await searcher.rank(await searcher.gather(generation, asked(EGGS), where), k=10)
    assert found.passages
    assert {passage.chunk.chapter for passage in found.passages} == set(where.values())


async def test_scores_are_probabilities_best_first(search: Search) -> None:
    """Above 0, at most 1."""
    scores = [passage.score for passage in (await search(EGGS)).passages]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


async def test_no_more_passages_than_asked_for(search: Search) -> None:
    """Each of them once."""
    found = await search(EGGS, k=2)
    assert len({passage.chunk.chunk_id for passage in found.passages}) == len(found.passages) == 2


async def test_the_odds_tell_what_the_book_speaks_of(search: Search) -> None:
    """For each part of the question."""
    inside, outside = (await search("Which bees need flowers, and which cheese do Italians want on pizza?")).parts
    assert inside.odds > 0 > outside.odds


@pytest.mark.parametrize(
    ("question", "tabs"), [("in Rust", {"Rust"}), ("in Python", {"Python"}), ("", {"Python", "Rust"})]
)
async def test_a_tab_that_is_named_is_the_one_that_is_meant(search: Search, question: str, tabs: set[str]) -> None:
    """Other tabs of its section are about something else; where none is named, all are there."""
    found = await search(f"How do I tare the scales {question}?".replace(" ?", "?"))
    assert {passage.chunk.variant for passage in found.passages} - {""} == tabs


class Backwards:
    """A cross-encoder that likes the passage with a word."""

    name = "backwards"
    ranking = Ranking()

    def __init__(self, word: str) -> None:
        self._word = word

    async def judge(self, question: str, passages: Sequence[View]) -> list[Judgement]:  # noqa: ARG002 - the port's
        """Almost sure of it, and of nothing else."""
        nothing = np.empty((0, 2), dtype=np.int32), np.empty(0, dtype=np.float32)
        return [Judgement(7.0 if self._word in passage.text else -7.0, *nothing) for passage in passages]

    def close(self) -> None:
        """It has no threads."""


async def test_a_cross_encoder_reads_the_best_once_more(generation: OpenGeneration) -> None:
    """Where one is configured, it turns the order of what is about as good."""
    searcher = Searcher(WordHashEmbedder(), Backwards("rain. Bees"))
    assert files(await searcher.search([generation], asked(NEEDS), k=5))[0] == "02-crate"
    searcher = Searcher(WordHashEmbedder(), Backwards("wax. Bees"))
    assert files(await searcher.search([generation], asked(NEEDS), k=5))[0] == "01-frame"


class Counted(Searcher):
    """Counts the books that it searches."""

    books = 0

    async def gather(
        self, generation: OpenGeneration, query: Query, where: Mapping[str, str] | None = None
    ) -> Gathered:
        """As every searcher does."""
        self.books += 1
        return await super().gather(generation, query, where)


async def test_each_of_several_books_is_searched_once(generation: OpenGeneration) -> None:
    """The candidates of the best one are ranked again, now by the cross-encoder, too."""
    searcher = Counted(WordHashEmbedder(), Backwards("wax. Bees"))
    found = await searcher.search([generation, generation], asked(NEEDS), k=5)
    assert (searcher.books, files(found)[0]) == (2, "01-frame")
    without = await searcher.search([generation, generation], asked(NEEDS), k=5, again=False)
    assert without.odds == (await searcher.search([generation], asked(NEEDS), k=5, again=False)).odds


async def test_who_asks_for_no_second_reading_gets_none(generation: OpenGeneration) -> None:
    """Then the reader's own order and odds hold."""
    alone = await Searcher(WordHashEmbedder()).search([generation], asked(NEEDS), k=5)
    (last,) = {files(alone)[0], "01-frame", "02-crate"} - {files(alone)[0]}
    reranker = Backwards("rain. Bees" if last == "02-crate" else "wax. Bees")
    searcher = Searcher(WordHashEmbedder(), reranker)
    assert files(await searcher.search([generation], asked(NEEDS), k=5))[0] == last
    without = await searcher.search([generation], asked(NEEDS), k=5, again=False)
    assert (files(without), without.odds) == (files(alone), alone.odds)


async def test_what_wants_more_of_an_answer_is_not_ranked_by_the_question_before(generation: OpenGeneration) -> None:
    """It asks nothing by itself: ranked by the question before, it would get the answer before again."""
    more = replace(asked(NEEDS), subject=NEEDS, follows=("x",))
    for word in ("rain. Bees", "wax. Bees"):
        found = await Searcher(WordHashEmbedder(), Backwards(word)).search([generation], more, k=5)
        assert files(found) == files(await Searcher(WordHashEmbedder()).search([generation], more, k=5))


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("What does Figure 2.1 show?", "Figure 2.1: Honey over the summer"),
        ("fig 2-1", "Figure 2.1: Honey over the summer"),
        ("Explain Listing 6-3", "Listing 6-3: Reading the scales"),
        ("What is in table IV?", "Table 4. Honey of a year"),
    ],
)
async def test_what_has_a_number_is_found_by_it_with_what_stands_around(
    search: Search, question: str, best: str
) -> None:
    """The caption first, then what is nearest; nothing of other sections."""
    (part,) = (await search(question)).parts
    assert part.odds == np.inf
    units = [
        (unit.text, score) for item in part.passages for unit, score in zip(item.chunk.units, item.scores, strict=True)
    ]
    assert max(units, key=lambda unit: unit[1])[0] == best
    assert {item.chunk.filename for item in part.passages} == {"02-chapter-2-summer/05-yield.md"}


class Assembling(WordHashEmbedder):
    """Assembles a word that it does not know from two pieces."""

    def token_offsets(self, text: str) -> Sequence[tuple[int, int]]:
        """Every other word is one piece."""
        whole = super().token_offsets(text)
        cut = [(start, start + 2, end) if text[start:end] == "tabel" else (start, end) for start, end in whole]
        return [piece for places in cut for piece in pairwise(places)]


async def test_a_slip_in_the_word_before_a_number_hides_nothing(generation: OpenGeneration) -> None:
    """It is read in the book's spelling before the figures that it names are looked up."""
    found = await Searcher(Assembling()).search([generation], asked("What is in tabel IV?"), k=5)
    assert found.changes == {"tabel": "table"}
    assert (found.parts[0].odds, files(found)[0]) == (np.inf, "05-yield")


async def test_a_number_that_nothing_has_is_not_answered_by_another(search: Search) -> None:
    """Though there are figures."""
    (part,) = (await search("What does Figure 9.9 show?")).parts
    assert part.odds == FAR


async def test_a_question_about_what_stands_in_a_table_prefers_its_passage(search: Search) -> None:
    """And ranks its units as for any question."""
    found = await search("How much honey does a wet year give in Table 4?")
    assert files(found)[0] == "05-yield"


async def test_what_leans_on_a_selection_is_asked_about_its_page(search: Search) -> None:
    """Though other pages have the other words of the question, and the selection's has none of them."""
    selected = "Smoke calms the bees. It makes them eat honey."
    found = await search("What does this rain need?", selected_text=selected)
    assert files(found)[0] == "03-smoke"
    assert set(files(found)) == {"03-smoke"}
    assert found.odds == float("inf")


@pytest.mark.parametrize(("most", "row"), [("highest", "wet | 20"), ("lowest", "dry | 12")])
async def test_the_most_and_the_least_of_a_column_are_computed(search: Search, most: str, row: str) -> None:
    """The row comes first, and the table answers; it says nothing of what is in none of its columns."""
    found = await search(f"Which year has the {most} honey (kg)?")
    best = found.parts[0].passages[0]
    assert best.chunk.units[int(best.scores.argmax())].text == row
    assert found.verdict == "answers"
    assert (await search(f"Which year has the {most} price?")).odds < np.inf


def test_numbers_of_one_unit_make_a_column() -> None:
    """Ranges, words and several units make none, and neither do two rows."""
    lead = "Kiln | Heat | Load | Fuel"
    rows = ["A | 1 060 °C | 2 kg | gas", "B | 980 °C | 300 g | oil", "C | 1240.5 °C | 1 to 3 kg | gas"]
    units = [
        Unit(kind="table_row", text=row, lead=lead, char_start=place, char_end=place + 1)
        for place, row in enumerate(rows)
    ]
    heat = Column("Kiln", "Heat", ((0, 1060.0), (1, 980.0), (2, 1240.5)))
    assert columns(units) == [heat, Column("Kiln", "Load", ()), Column("Kiln", "Fuel", ())]
    assert columns(units[:2]) == []
