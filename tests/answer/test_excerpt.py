"""Excerpts: contiguous runs of the book, whole where the book is whole, the likeliest first."""

import msgspec
import numpy as np
import pytest
from tests.answer.book import chunk, unit

from lutrin.answer.render import block_text, excerpt, markdown
from lutrin.answer.runs import (
    FIRST_WORDS,
    LONGEST_WORDS,
    MOST_WORDS,
    SECOND_WORDS,
    Run,
    choose,
    choose_whole,
    lead_of,
    procedures_of,
    proof_of,
    whole,
)
from lutrin.index.generation import OpenGeneration
from lutrin.records import Chunk, Unit, UnitKind
from lutrin.search.result import Part, ScoredPassage, log_sum

LIKELY, UNLIKELY = 5.0, -5.0


def page(
    *texts: str, kinds: dict[int, UnitKind] | None = None, leads: dict[int, str] | None = None, name: str = "c1"
) -> Chunk:
    """A page of these units, one after the other with a blank between; each kind begins a new block."""
    units: list[Unit] = []
    start = block = 0
    for place, text in enumerate(texts):
        kind = (kinds or {}).get(place, "sentence")
        block += bool(units) and units[-1].kind != kind
        units.append(unit(text, kind=kind, block=block, start=start, lead=(leads or {}).get(place, "")))
        start += len(text) + 1
    made = chunk(*units, chunk_id=name, filename=f"{name}.md")
    return msgspec.structs.replace(made, text=" ".join(texts))


def part(*found: tuple[Chunk, list[float]], odds: float = 1.0, met: float = 0.5) -> Part:
    """The search result for one question: passages with scores of their units; each unit matches a word of its own."""
    count = sum(len(scores) for _, scores in found)
    own = np.split(np.eye(count, dtype=np.float32) * np.float32(met), np.cumsum([len(scores) for _, scores in found]))
    reads = [
        ScoredPassage(item, np.array(scores, dtype=np.float32), log_sum(scores), 0.5, matches)
        for (item, scores), matches in zip(found, own, strict=False)
    ]
    ranked = tuple(sorted(reads, key=lambda read: -read.score))
    return Part("asked", ranked, odds, share=(1 / count,) * count)


def texts(run: Run) -> list[str]:
    """The units of an excerpt as they stand."""
    return [unit.text for unit in run.units]


def words(count: int, *, of: str = "word") -> str:
    """A sentence of so many words."""
    return " ".join([of] * (count - 1) + ["end."])


def test_the_likeliest_run_is_shown_with_what_fits_beside_it() -> None:
    """It is contiguous, and the source has it character by character."""
    held = page("Bees hum.", "They dance.", "Honey is sweet.", "Wax is not.")
    (run,) = choose([part((held, [UNLIKELY, LIKELY, LIKELY, UNLIKELY]))])
    assert {"They dance.", "Honey is sweet."} <= set(texts(run))
    shown = excerpt(run, 1, held.text)
    assert shown.text == held.text[slice(*run.span)]
    assert [item.char_start for item in run.units] == sorted(item.char_start for item in run.units)
    places = [held.units.index(item) for item in run.units]
    assert places == list(range(places[0], places[-1] + 1))


@pytest.mark.parametrize("length", [12, 30, 49])
def test_the_first_excerpt_keeps_within_its_words_and_the_second_in_its_own(length: int) -> None:
    """However many units are likely."""
    likely = [UNLIKELY, *[LIKELY] * (FIRST_WORDS // length), *[UNLIKELY] * 4]
    first, second = (page(*[words(length, of=name)] * len(likely), name=name) for name in ("a", "b"))
    runs = choose([part((first, likely), (second, likely))])
    assert len(runs) == 2
    assert runs[0].words <= FIRST_WORDS
    assert runs[1].words <= SECOND_WORDS
    assert sum(run.words for run in runs) <= MOST_WORDS


def test_excerpts_that_stand_together_are_one() -> None:
    """Text of two runs of a section is shown once, up to the longest excerpt."""
    held = page(*[words(20)] * 5)
    (run,) = choose([part((held, [LIKELY] * 5))])
    assert run.units == held.units


def test_what_was_cut_off_is_told() -> None:
    """Whether text of the section precedes or follows an excerpt."""
    held = page(*[words(40)] * 5)
    (run, *_) = choose([part((held, [UNLIKELY, UNLIKELY, LIKELY, UNLIKELY, UNLIKELY]))])
    assert (run.cut_before, run.cut_after) == (run.units[0] != held.units[0], run.units[-1] != held.units[-1])
    (whole,) = choose([part((page("Bees hum.", "They dance."), [LIKELY, LIKELY]))])
    assert (whole.cut_before, whole.cut_after) == (False, False)


def test_a_procedure_is_whole() -> None:
    """With what announces it, though one step alone answers and all have more words than a first excerpt."""
    steps = [f"{number}. {words(22)}" for number in range(1, 6)]
    held = page(
        "Do it so:",
        *steps,
        kinds=dict.fromkeys(range(1, 6), "list_item"),
        leads=dict.fromkeys(range(1, 6), "Do it so:"),
    )
    (run, *_) = choose([part((held, [UNLIKELY, UNLIKELY, LIKELY, *[UNLIKELY] * 3]))])
    assert texts(run) == ["Do it so:", *steps]
    assert FIRST_WORDS < run.words <= MOST_WORDS


def test_items_without_numbers_may_stand_alone() -> None:
    """They are no procedure; a list that is too long is cut between items."""
    items = [words(30) for _ in range(6)]
    held = page(*items, kinds=dict.fromkeys(range(6), "list_item"))
    (run, *_) = choose([part((held, [UNLIKELY] * 5 + [LIKELY]))])
    assert held.units[5] in run.units
    assert run.words <= FIRST_WORDS


def test_a_small_table_is_whole_and_a_large_one_is_not() -> None:
    """The header comes with any rows that are shown (`render`)."""
    small = page(
        *["Wren | 3 kg"] * 4, kinds=dict.fromkeys(range(4), "table_row"), leads=dict.fromkeys(range(4), "Robot | Mass")
    )
    (run,) = choose([part((small, [UNLIKELY, LIKELY, UNLIKELY, UNLIKELY]))])
    assert run.units == small.units
    count = 40
    large = page(*["Wren | 3 kg and a half"] * count, kinds=dict.fromkeys(range(count), "table_row"))
    (run, *_) = choose([part((large, [UNLIKELY] * (count - 1) + [LIKELY]))])
    assert large.units[-1] in run.units
    assert run.words <= FIRST_WORDS


@pytest.mark.parametrize("announced", ["The command below starts it:", "The command below starts it."])
def test_code_stands_with_what_announces_it(announced: str) -> None:
    """If the text ends with a colon, or the reader's model found that it introduces the block."""
    held = page("Wood.", announced, "go()\n", kinds={2: "code"}, leads={2: announced})
    (run, *_) = choose([part((held, [-50.0, -50.0, LIKELY]))])
    assert {announced, "go()\n"} <= set(texts(run))


def test_where_code_is_wanted_a_run_with_code_comes_first() -> None:
    """If it is about as likely as one without."""
    told, coded = page("It goes forward.", name="a"), page("go()\n", kinds={0: "code"}, name="b")
    found = part((told, [1.0]), (coded, [0.0]))
    assert choose([found])[0].chunk is told
    assert choose([found], "code")[0].chunk is coded
    far = part((told, [LIKELY]), (coded, [UNLIKELY]))
    assert choose([far], "code")[0].chunk is told


def test_a_warning_is_whole() -> None:
    """The units of one box are never separated, however far the likely one is from its end."""
    box = [unit(words(20, of=f"w{n}"), block=0, start=n * 200, warning=True) for n in range(6)]
    held = chunk(*box)
    (run,) = choose([part((held, [LIKELY, *[-50.0] * 5]))])
    assert run.units == held.units


def test_no_two_excerpts_share_a_unit_and_there_are_three_at_most() -> None:
    """For every question."""
    pages = [page(*[words(30, of=name)] * 8, name=name) for name in ("a", "b", "c")]
    found = [(item, [LIKELY] * 8) for item in pages]
    for parts in ([part(*found)], [part(*found)] * 2, [part(*found)] * 3, [part(*found)] * 5):
        runs = choose(parts)
        shown = [(run.chunk.filename, item.char_start) for run in runs for item in run.units]
        assert len(shown) == len(set(shown))
        assert 1 <= len(runs) <= 3
        assert sum(run.words for run in runs) <= MOST_WORDS


def test_each_thing_that_is_asked_has_an_excerpt_of_its_own() -> None:
    """In the order in which it was asked, although the other is more likely."""
    bees, wax = page("Bees hum.", name="a"), page("Wax melts.", name="b")
    runs = choose([part((bees, [1.0]), (wax, [0.0])), part((wax, [LIKELY]), (bees, [UNLIKELY]))])
    assert [texts(run) for run in runs] == [["Bees hum."], ["Wax melts."]]


def test_a_second_excerpt_is_shown_only_if_it_is_about_as_likely() -> None:
    """Else it would be beside the point."""
    bees, wax = page("Bees hum.", name="a"), page("Wax melts.", name="b")
    assert len(choose([part((bees, [LIKELY]), (wax, [LIKELY - 0.5]))])) == 2
    assert len(choose([part((bees, [LIKELY]), (wax, [LIKELY - 4]), met=0.1)])) == 1


def test_a_further_excerpt_answers_what_the_first_leaves_open() -> None:
    """Of two equally likely passages, the one with other words of the question; none if no new word is matched."""
    bees, hums, wax = (page(text, name=name) for text, name in (("Bees hum.", "a"), ("They hum.", "b"), ("Wax.", "c")))
    meets = ((1.0, 0.0), (0.9, 0.0), (0.0, 0.9))
    reads = [
        ScoredPassage(item, np.array([score], dtype=np.float32), score, 0.5, np.array([met], dtype=np.float32))
        for item, score, met in zip((bees, hums, wax), (LIKELY, LIKELY - 1, LIKELY - 1.2), meets, strict=True)
    ]
    assert [texts(run) for run in choose([Part("", tuple(reads), 1.0, share=(0.5, 0.5))])] == [["Bees hum."], ["Wax."]]
    assert [texts(run) for run in choose([Part("", tuple(reads[:2]), 1.0, share=(0.5, 0.5))])] == [["Bees hum."]]


def test_passages_of_one_section_are_read_on() -> None:
    """An excerpt may cross the border of two chunks; their common text is shown once."""
    one = page("Bees hum.", "They dance.")
    both = page("Bees hum.", "They dance.", "Honey is sweet.")
    next_ = msgspec.structs.replace(both, chunk_id="c2", units=both.units[1:])
    (run,) = choose([part((one, [0.0, LIKELY]), (next_, [LIKELY, LIKELY]))])
    assert texts(run) == ["Bees hum.", "They dance.", "Honey is sweet."]


def test_units_that_answer_side_by_side_are_one_mark() -> None:
    """No gap of a blank between two marks."""
    held = page("Bees hum.", "They dance.", "Honey is sweet.")
    (run,) = choose([part((held, [0.0, LIKELY, LIKELY]))])
    shown = excerpt(run, 1, held.text)
    assert [shown.text[start:end] for start, end in shown.marks] == ["They dance. Honey is sweet."]


def test_marks_name_the_unit_that_answers() -> None:
    """They lie inside of the excerpt, in order and apart, and the best unit is among them."""
    held = page("Bees hum.", "They dance.", "Honey is sweet.", "Wax is not.", "Bees sting.")
    (run,) = choose([part((held, [0.0, LIKELY, 0.0, LIKELY + 1, 0.0]))])
    shown = excerpt(run, 1, held.text)
    assert [shown.text[start:end] for start, end in shown.marks] == ["They dance.", "Wax is not."]
    ends = [place for mark in shown.marks for place in mark]
    assert ends == sorted(ends)
    assert 0 <= ends[0] <= ends[-1] <= len(shown.text)


def test_an_excerpt_that_begins_within_a_table_names_its_columns() -> None:
    """Its text has the rows alone; one that begins with a sentence has the header in it."""
    made = page("Two arms.", "Wren | 3 kg", kinds={1: "table_row"}, leads={1: "Robot | Mass"})
    both, row = Run(made, made.units, (UNLIKELY, LIKELY)), Run(made, made.units[1:], (LIKELY,))
    assert excerpt(row, 1, made.text).header == ("Robot", "Mass")
    assert excerpt(both, 1, made.text).header == ()


def test_nothing_is_shown_of_what_has_no_words() -> None:
    """An empty search gives no excerpt."""
    assert choose([]) == []
    assert choose([Part("asked", (), -np.inf)]) == []


@pytest.mark.parametrize(
    ("source", "text", "mark"),
    [
        ("Run it:\n\n```bash\nros2 run a b\n```\n\nIt talks.", "```bash\nros2 run a b\n```", "ros2 run a b"),
        ("1. Do:\n\n    ```sh\n    ls\n    ```\n\n    Then wait.", "    ```sh\n    ls\n    ```", "ls"),
        ("So:\n\n    ls\n\nDone.", "ls", "ls"),
    ],
)
def test_code_keeps_its_fences(source: str, text: str, mark: str) -> None:
    """A page shows an excerpt as code that begins or ends with it; what has no fence has none."""
    code = unit(mark, kind="code", start=source.index(mark))
    held = chunk(code, chunk_id="c1", filename="c1.md")
    run = Run(held, (code,), (LIKELY,))
    shown = excerpt(run, 1, source)
    assert shown.text == text
    assert [shown.text[start:end] for start, end in shown.marks] == [mark]


def test_a_proof_holds_what_a_sentence_rests_on_and_what_the_reader_found() -> None:
    """It includes the text between them; the mark is on the words that prove the sentence."""
    book = page("Kites fly.", "A kite has a tail.", "The tail is long.", "Wind lifts it.")
    (found,) = choose([part((book, [LIKELY, UNLIKELY, UNLIKELY, UNLIKELY]))])
    found = found.part(0, 1)
    proof = proof_of(whole(book), {book.units[2].char_start}, found)
    assert texts(proof) == ["Kites fly.", "A kite has a tail.", "The tail is long."]
    assert [unit.text for unit in proof.answering_units] == ["The tail is long."]
    assert proof.cut_after


def test_a_proof_leaves_out_what_is_too_far_away() -> None:
    """An excerpt stays short enough to be read at a glance; sentences that rest on both ends of a section share it."""
    book = page("Kites fly.", " ".join(["word"] * LONGEST_WORDS) + ".", "The tail is long.")
    (found,) = choose([part((book, [LIKELY, UNLIKELY, UNLIKELY]))])
    found = found.part(0, 1)
    first, last = book.units[0].char_start, book.units[2].char_start
    assert texts(proof_of(whole(book), {last}, found)) == ["The tail is long."]
    assert texts(proof_of(whole(book), {first, last}, None)) == ["Kites fly."]


@pytest.mark.parametrize(
    ("kind", "scores", "alone"),
    [("list_item", [LIKELY, UNLIKELY, UNLIKELY], 1), ("list_item", [LIKELY] * 3, 3), ("table_row", [LIKELY] * 3, 3)],
)
def test_where_no_item_stands_out_the_list_answers(kind: UnitKind, scores: list[float], alone: int) -> None:
    """What are the parts? All of them; which one is sweet? That one."""
    held = page("Honey | sweet", "Wax | soft", "Smoke | grey", kinds=dict.fromkeys(range(3), kind))
    (run,) = choose([part((held, scores))])
    units, rest = lead_of(run)
    assert len(units) == alone
    assert len(rest) == 3 - alone


def test_a_table_is_whole_up_to_the_words_of_an_excerpt() -> None:
    """Its first row may be the one that was asked for."""
    rows = [" ".join(["cell"] * 10)] * 10
    held = page("Bees hum.", *rows, kinds=dict.fromkeys(range(1, 11), "table_row"))
    (run,) = choose([part((held, [UNLIKELY, UNLIKELY, *[LIKELY] * 9]))])
    assert len(run.units) >= len(rows)


def test_the_steps_of_a_procedure_are_never_parted() -> None:
    """However likely one of them is, up to a page of a phone."""
    steps = [f"{number}. " + words(20) for number in range(1, 9)]
    held = page("Bees hum.", *steps, kinds=dict.fromkeys(range(1, 9), "list_item"))
    (run,) = choose([part((held, [UNLIKELY, LIKELY, *[UNLIKELY] * 7]))])
    assert texts(run) == steps


@pytest.mark.parametrize(
    ("steps", "kind"),
    [
        (["1. Open it.", "2. Oil it.", "Take care.", "3. Close it."], "list_item"),
        (["Step 1.", "Open it.", "Step 2.", "Oil it.", "A rag will do.", "Step 3.", "Close it."], "sentence"),
    ],
)
def test_a_procedure_goes_on_behind_what_interrupts_it(steps: list[str], kind: UnitKind) -> None:
    """A note, a paragraph or code between two steps belongs to it, and all of it answers."""
    kinds: dict[int, UnitKind] = {place: kind for place, text in enumerate(steps, 1) if text[0].isdigit()}
    held = page("Bees hum.", *steps, kinds=kinds)
    (run,) = choose([part((held, [UNLIKELY] * len(steps) + [LIKELY]))])
    assert texts(run)[-len(steps) :] == steps
    assert [unit.text for unit in lead_of(run)[0]] == steps


def test_numbers_that_do_not_follow_each_other_are_no_steps() -> None:
    """A year is no step either, and neither is a step without a first one."""
    for lines in (["1. Wax.", "3. Honey."], ["2. Wax.", "3. Honey."], ["1914. Wax.", "1. Honey."]):
        held = page(*lines, kinds=dict.fromkeys(range(len(lines)), "list_item"))
        assert procedures_of(held.units) == []


def test_a_second_excerpt_does_not_repeat_the_first() -> None:
    """A book for two boards says on both pages how the lamp is switched on."""
    one = page("This line switches the lamp on.", name="c1")
    other = page("This line switches the lamp on.", "The lamp of this board is red.", name="c2")
    runs = choose([part((one, [LIKELY + 2]), (other, [LIKELY, LIKELY + 1]))])
    assert [texts(run) for run in runs] == [["This line switches the lamp on."], ["The lamp of this board is red."]]


def test_a_second_excerpt_of_a_table_begins_behind_the_first() -> None:
    """With all rows but those that are quoted already: the table and the sentence before it are too long for one."""
    rows = [words(12, of=f"row{place}") for place in range(8)]
    kinds: dict[int, UnitKind] = dict.fromkeys(range(1, 9), "table_row")
    held = page(words(45), *rows, kinds=kinds)
    scores = [LIKELY, LIKELY, *[UNLIKELY] * 5, LIKELY, UNLIKELY]
    first, second = choose([part((held, scores))])
    assert texts(first) == [words(45), rows[0]]
    assert texts(second) == rows[1:]


def test_steps_that_are_asked_for_come_first() -> None:
    """All of them, though a sentence beside them is likelier."""
    book = page(
        "A lamp is replaced in steps.", "1. Unplug it.", "2. Turn it left.", kinds={1: "list_item", 2: "list_item"}
    )
    (run,) = choose([part((book, [LIKELY, LIKELY - 1, LIKELY - 1]))], "steps")
    assert [unit.text for unit in lead_of(run, "steps")[0]] == ["1. Unplug it.", "2. Turn it left."]
    assert [unit.text for unit in lead_of(run)[0]] == ["A lamp is replaced in steps."]


def test_the_source_of_a_figure_is_no_text() -> None:
    """Readers see it drawn in the excerpt; the answer is made of words."""
    figure = unit("flowchart LR", kind="code", language="mermaid", block=1, start=11)
    held = chunk(unit("Bees hum.", start=0), figure, unit("They dance.", block=2, start=30))
    (run,) = choose([part((held, [LIKELY, 2 * LIKELY, LIKELY]))])
    assert figure in run.units
    assert figure not in lead_of(run)[0]
    assert markdown(run.units, 1) == "Bees hum.\n\nThey dance. [1]"
    (run,) = choose([part((held, [UNLIKELY - 20, LIKELY, LIKELY]))])
    assert texts(run.part(1, 3)) == ["They dance."]


def test_an_excerpt_may_go_on_from_a_section_into_a_tab() -> None:
    """The section has fewer units than the excerpt that begins in it."""
    shared = chunk(unit("Tare the scales.", start=0))
    tab = msgspec.structs.replace(chunk(unit("Call tare.", start=17), chunk_id="c2"), variant="Python")
    (run,) = choose([part((shared, [LIKELY]), (tab, [LIKELY]))])
    assert texts(run) == ["Tare the scales.", "Call tare."]


def test_the_answer_comes_with_the_sentences_that_answer_as_well_and_the_one_that_leads_to_it() -> None:
    """In the book's order, and within its paragraph, with what the first of them points at."""
    sentences = (
        "Bees fly.",
        "A queen lays eggs.",
        "They are white.",
        "Queens lay 2,000 a day.",
        "Drones do not.",
        "Rain.",
    )

    def lead(*scores: float, block: int = 6) -> list[str]:
        units = [unit(text, start=20 * n, block=int(n >= block)) for n, text in enumerate(sentences)]
        (run,) = choose([part((chunk(*units, chunk_id="c1"), list(scores)))])
        return [one.text for one in lead_of(run)[0]]

    assert lead(-5, -5, -5, 5, -5, -5) == ["Queens lay 2,000 a day."]
    assert lead(-5, -5, 5, -5, -5, -5) == ["A queen lays eggs.", "They are white."]
    assert lead(-5, -5, 5, -5, -5, -5, block=2) == ["They are white."]
    assert lead(-5, -5, 4.5, 5, -5, -5) == ["A queen lays eggs.", "They are white.", "Queens lay 2,000 a day."]
    assert lead(-5, 4.5, 4.6, 5, 4.4, -5) == list(sentences[1:5])
    assert lead(-5, 4.5, 4.6, 5, 4.4, -5, block=3) == list(sentences[3:5])


def test_a_question_of_the_book_is_no_answer() -> None:
    """Neither first nor alone; beside what answers it stands where the book has it."""
    asks, tells = page("Why do bees dance?"), page("Why smoke?", "Smoke calms bees.", name="c2")
    (run,) = choose([part((asks, [LIKELY]), (tells, [LIKELY, 1.0]))])
    assert texts(run) == ["Why smoke?", "Smoke calms bees."]
    assert [unit.text for unit in lead_of(run)[0]] == ["Smoke calms bees."]


def test_what_announces_the_answer_does_not_follow_it() -> None:
    """The steps are said first; "Do this:" behind them would announce nothing."""
    held = page("It stops.", "Do this:", "1. Turn.", "2. Wait.", kinds={2: "list_item", 3: "list_item"})
    lead, rest = lead_of(Run(held, held.units, (0.0, 0.0, LIKELY, LIKELY)))
    assert ([unit.text for unit in lead], [unit.text for unit in rest]) == (["1. Turn.", "2. Wait."], ["It stops."])


def test_a_command_stands_with_what_it_is_for() -> None:
    """One to uninstall must not look like the answer to how to update."""
    purpose = unit("To uninstall, run:", start=0)
    command = unit("tool self uninstall", kind="code", start=20, block=1, lead=purpose.text)
    update = unit("Update with the tool.", start=60, block=2)
    lead, rest = lead_of(Run(chunk(purpose, command, update), (purpose, command, update), (-9.0, 0.0, -5.0)))
    assert (lead, rest) == ((purpose, command), (update,))


def test_what_does_not_hold_never_stands_without_saying_so() -> None:
    """A command that the book warns against, and a list of mistakes."""
    wrong = unit("We can't use:", start=0)
    command = unit("cp *.dat original-*.dat", kind="code", start=20, block=1, lead=wrong.text)
    lead, _ = lead_of(Run(chunk(wrong, command), (wrong, command), (-9.0, 0.0)))
    assert lead == (wrong, command)
    never = "Never do one of these:"
    oil = unit("Pour oil.", kind="list_item", start=0, lead=never)
    assert block_text([oil]) == f"{never}\n\n- Pour oil."
    assert block_text([unit("Pour it.", kind="list_item", start=0, lead="Do all of these:")]) == "- Pour it."


WAY = page(
    "First measure the belt.", "Type this:", "belt measure", "Then tighten it:", "belt tighten", "One wheel is old.",
    "It squeaks.", "belt list", kinds={2: "code", 4: "code", 6: "list_item", 7: "code"},
)  # fmt: skip


class Page(OpenGeneration):
    """A generation of this page alone."""

    def __init__(self) -> None:
        """Nothing is opened."""

    async def chunks_of(self, filename: str) -> list[Chunk]:
        """It."""
        return [WAY] if filename == WAY.filename else []


def test_how_something_is_done_is_told_in_order() -> None:
    """In the order of the commands; any statement may come first."""
    run = Run(WAY, WAY.units[:3], (UNLIKELY, UNLIKELY, LIKELY))
    assert lead_of(run, "how") == (run.units, ())
    assert [one.text for one in lead_of(run, "plain")[0]] == ["Type this:", "belt measure"]
    told = page("One wheel is old.", "Oil stops the squeak.")
    assert [one.text for one in lead_of(Run(told, told.units, (-20.0, LIKELY)), "how")[0]] == ["Oil stops the squeak."]


async def test_what_is_typed_next_belongs_to_how_it_is_done() -> None:
    """One paragraph may lead to it, and none of it is shown again."""
    scores = [UNLIKELY, UNLIKELY, LIKELY]
    begun = msgspec.structs.replace(WAY, units=WAY.units[:3])
    onward = msgspec.structs.replace(WAY, units=WAY.units[3:6], chunk_id="c2")
    parts = [part((begun, scores)), part((onward, scores))]
    first, second = await choose_whole(Page(), parts, "how")
    assert texts(first) == [one.text for one in WAY.units[:5]]
    assert texts(second) == [one.text for one in WAY.units[5:]]
    assert texts((await choose_whole(Page(), parts[:1], "plain"))[0])[-1] == "belt measure"


def test_what_introduces_a_list_is_said_once() -> None:
    """Even if its items are separated."""
    lead = "There are two ways:"
    one, two = (unit(f"{n}. Way.", kind="list_item", start=40 * n, lead=lead, block=2 * n) for n in (1, 2))
    between = unit("Look at the picture.", start=60, block=3)
    assert markdown([one, between, two], 1).count(lead) == 1


def test_a_title_within_an_excerpt_looks_like_one() -> None:
    """The title of a box or a step is bold; a title that is the whole excerpt is not."""
    title = unit("Build the node", start=30, block=1)
    before, after = unit("The node waits.", block=0), unit("Run cmake.", start=60, block=2)
    assert markdown([before, title, after], 1) == "The node waits.\n\n**Build the node**\n\nRun cmake. [1]"
    assert markdown([title], 1) == "Build the node [1]"
