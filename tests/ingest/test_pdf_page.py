"""The text of a PDF page: signs above and below the line, notes, initials, and no invisible text."""

import time

import pytest
from reportlab.pdfgen.canvas import Canvas
from tests.ingest.drawn import pdf, text, texts, units

from lutrin_formats.pdf import find_blocks, parse_pdf
from lutrin_formats.pdf_layout import Line, TextRun, in_reading_order, page_lines

TEXT = "The workshop opens at nine and closes at five on every day."


def run(x: float, y: float, text: str, size: float = 10.0, *, length: float | None = None) -> TextRun:
    """A run of letters that are half as wide as they are high."""
    return TextRun(x, y, size, text, 0.5 * size * len(text) if length is None else length)


def body(first: float = 700.0, lines: int = 8, x: float = 72.0) -> list[TextRun]:
    """Lines of running text."""
    return [run(x, first - 14 * line, TEXT) for line in range(lines)]


def lines(*runs: TextRun, visible: tuple[float, float, float, float] | None = None) -> list[Line]:
    """The lines of a page that has these runs above others."""
    return page_lines([*runs, *body()], visible)


def first(*runs: TextRun) -> str:
    """The text of the uppermost line."""
    return lines(*runs)[0].text


def test_raised_and_lowered_signs_keep_their_place() -> None:
    """An exponent, a unit, an index, an ion; each hangs on its word."""
    assert first(run(72, 750, "It has 10"), run(117, 754, "12", 7), run(125, 750, " atoms.")) == "It has 10^12 atoms."
    assert first(run(72, 750, "of 35 cm"), run(112, 754, "2", 7), run(116, 750, " each")) == "of 35 cm^2 each"
    assert first(run(72, 750, "with CO"), run(107, 747, "2", 7), run(111, 750, " in it")) == "with CO2 in it"
    assert first(run(72, 750, "and Fe"), run(102, 754, "3+", 7), run(110, 750, " too")) == "and Fe^3+ too"
    assert first(run(72, 750, "the 21"), run(102, 754, "st", 7), run(110, 750, " time")) == "the 21st time"


def test_a_note_mark_touches_no_word() -> None:
    """Behind a year or a full stop; behind a short word if the page has the note."""
    assert first(run(72, 750, "In 1912"), run(107, 754, "4", 7), run(111, 750, " it sank.")) == "In 1912 it sank."
    note = run(72, 100, "5 By an iceberg in the night.", 7)
    assert lines(run(72, 750, "It was"), run(102, 754, "5", 7), run(106, 750, " lost"), note)[0].text == "It was lost"


def test_notes_below_the_text_are_marked() -> None:
    """From the first mark on; a small caption without one is none."""
    page = lines(run(72, 110, "1 The seal is made of carbon", 7), run(72, 101, "and costs twelve euros.", 7))
    assert [line.text for line in page if line.note] == ["1 The seal is made of carbon", "and costs twelve euros."]
    assert not any(line.note for line in lines(run(72, 110, "Photograph by the author.", 7)))


def test_text_that_is_painted_twice_is_read_once() -> None:
    """Painted twice to look bold or shadowed; equal words elsewhere are read again."""
    page = lines(run(72, 750, "Mind the lathe"), run(72.5, 749.6, "Mind the lathe"), run(72, 730, "Mind the lathe"))
    assert [line.text for line in page].count("Mind the lathe") == 2


def test_text_outside_the_visible_box_is_not_read() -> None:
    """For example a printer's slug."""
    page = lines(run(72, 870, "Press_ch3.indd 45"), run(72, 760, "Seen."), visible=(0, 0, 595, 842))
    assert page[0].text == "Seen."


def test_numbers_of_lines_are_not_read() -> None:
    """On either side, one by one or by fives; the numbers of a table are."""
    for x, step in ((40.0, 1), (560.0, 1), (40.0, 5)):
        numbers = [run(x, 700 - 14 * line, str(step * (line + 1)), 7) for line in range(8)]
        assert [line.text for line in lines(*numbers)] == [TEXT] * 8
    rows = [
        part
        for line in range(5)
        for part in (run(72, 550 - 14 * line, str(line + 1)), run(150, 550 - 14 * line, "Oak"))
    ]
    assert "1" in " ".join(line.text for line in lines(*rows)).split()


LEVELS = (
    "no first aid needed",
    "first aid in the lab",
    "a visit to a doctor",
    "a stay in hospital",
    "danger to a life",
)


def test_a_table_in_small_letters_at_the_foot_of_a_page_keeps_its_numbers_and_is_no_note() -> None:
    """Its first column counts up beside several words, like numbers of lines, and begins as notes do."""
    heads = [run(78, 120, "Level", 8), run(150, 120, "Severity", 8), run(350, 120, "Likelihood", 8)]
    rows = [
        part
        for place, words in enumerate(LEVELS)
        for part in (
            run(78, 104 - 16 * place, str(place + 1), 8),
            run(150, 104 - 16 * place, words, 8),
            run(350, 104 - 16 * place, "every ten years", 8),
        )
    ]
    for page in (lines(*heads, *rows), page_lines([*heads, *rows])):
        assert [line.cells for line in page][-5:] == [
            (str(place), words, "every ten years") for place, words in enumerate(LEVELS, 1)
        ]
        assert not any(line.note for line in page)


def test_an_initial_begins_its_word() -> None:
    """And stands alone if it is a word."""
    page = [run(100, 760, "he tide rises."), run(100, 746, "It falls again."), run(100, 732, "It rises.")]
    assert first(run(72, 735, "T", 40, length=25), *page) == "The tide rises."


def test_a_title_with_letters_apart_is_words() -> None:
    """A wider gap parts them."""
    places = (72, 88, 104, 120, 160, 176, 192, 208)
    letters = [run(x, 760, letter, 14, length=8) for x, letter in zip(places, "HEATFLOW", strict=True)]
    assert first(*letters) == "HEAT FLOW"


def test_notes_in_the_margin_stand_below_the_text() -> None:
    """In their own order."""
    page = page_lines([*body(x=180.0), run(60, 686, "Cam: a wheel", 7), run(60, 677, "that lifts", 7)])
    assert [line.text for line in page] == [*[TEXT] * 8, "Cam: a wheel", "that lifts"]


def test_a_line_of_dots_takes_no_time() -> None:
    """Of any length: pages of strangers have lines of anything. All of it is one paragraph."""
    line = Line(72, 700, 540, 10, (f"{'. ' * 50_000}q",), (72,), bold=False, mono=False)
    began_s = time.thread_time()
    (block,) = find_blocks([[line] * 6], [])
    assert time.thread_time() - began_s < 4
    assert (block.kind, len(block.lines)) == ("paragraph", 6)


COLUMNS = (
    ("Bees swarm in May", "when the hive is", "full. The old queen", "leaves with half", "of the workers."),
    ("A skep of straw is", "held under them and", "the branch is hit.", "They drop in at", "once and stay."),
    ("Move the skep after", "sunset. Bees find", "their way back to", "a place that is", "near the old one."),
)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("heads", [(), ("Swarming", "Catching", "Moving")])
def test_narrow_columns_are_read_one_after_the_other(count: int, heads: tuple[str, ...]) -> None:
    """With titles or without; rows of a table in small letters stay rows."""

    def leaflet(canvas: Canvas) -> None:
        for place, column in enumerate(COLUMNS[:count]):
            text(canvas, [*heads[place : place + 1], *column], x=60 + 130 * place, size=10)

    assert "Bees swarm in May when the hive is full." in " ".join(texts(parse_pdf(pdf(leaflet), "a.pdf")))
    assert not any(unit.kind == "table_row" for unit in units(parse_pdf(pdf(leaflet), "a.pdf")))

    def table(canvas: Canvas) -> None:
        for place, column in enumerate((["mule", "camel", "yak", "ox"], ["on paths", "in sand", "on ice", "in mud"])):
            text(canvas, column, x=60 + 130 * place, size=10)

    assert "camel | in sand" in texts(parse_pdf(pdf(table), "a.pdf"))


@pytest.mark.parametrize("above", [True, False])
def test_a_table_across_two_columns_is_one(above: bool) -> None:
    """Above them and below."""
    prose = "Wool is shorn in June when the fleece has risen from the".split()

    def page(canvas: Canvas) -> None:
        top = 640 if above else 740
        for x in (60, 310):
            text(canvas, [" ".join(prose[n:] + prose[:n])[:46] for n in range(11)], x=x, top=top, size=10)
        for row, cells in enumerate([("Breed", "Fleece", "Staple", "Use"), ("Merino", "5 kg", "9 cm", "cloth")]):
            for cell, x in zip(cells, (60, 170, 330, 450), strict=True):
                text(canvas, [cell], x=x, top=(740 if above else 520) - 16 * row, size=10)

    assert "Merino | 5 kg | 9 cm | cloth" in texts(parse_pdf(pdf(page), "a.pdf"))


@pytest.mark.parametrize(
    ("painted", "read"),
    [
        ("\u05dd\u05d5\u05dc\u05e9", "\u05e9\u05dc\u05d5\u05dd"),
        ("say (\u05d1\u05d0) now", "say (\u05d0\u05d1) now"),
        ("12 \u05d3\u05d2 3.5 \u05d1\u05d0", "\u05d0\u05d1 3.5 \u05d2\u05d3 12"),
        ("\ufedf\u0645", "\u0645\u0644"),
    ],
)
def test_letters_that_are_read_from_the_right_are_in_order(painted: str, read: str) -> None:
    """Numbers and words of other scripts among them keep theirs; Arabic letters have their plain form."""
    assert in_reading_order(painted) == read


def test_the_soft_hyphen_of_winansi_is_a_hyphen() -> None:
    """At the end of a line it is mended like any other."""

    def page(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 11)
        for top, line in ((720, rb"(It holds many com\255) Tj"), (706, rb"(panies of Anglo\255Saxon times.) Tj")):
            canvas._code.append(f"BT 1 0 0 1 72 {top} Tm /F1 11 Tf {line.decode('latin-1')} ET")

    assert texts(parse_pdf(pdf(page), "a.pdf")) == ["It holds many companies of Anglo-Saxon times."]


@pytest.mark.parametrize("is_drawn", [True, False])
def test_the_words_of_a_drawing_stand_with_its_caption(is_drawn: bool) -> None:
    """A chart's numbers and labels are no sentences of the text, and none is lost; indented lines alone are text."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 11)
        for number in range(6):
            canvas.drawString(72, 760 - 14 * number, TEXT)
        canvas.setFont("Helvetica", 8)
        for number, (word, height) in enumerate((("Lathe", 90), ("Saw", 60), ("Drill", 30))):
            if is_drawn:
                canvas.rect(120 + 60 * number, 520, 30, height, fill=1)
            canvas.drawString(124 + 60 * number, 524 + height, str(height))
            canvas.drawString(120 + 60 * number, 508, word)
        canvas.setFont("Helvetica", 10)
        canvas.drawString(72, 480, "Figure 1.2: How loud the machines are, in decibels.")
        canvas.setFont("Helvetica", 11)
        canvas.drawString(72, 450, "Wear ear muffs beside the lathe.")

    found = units(parse_pdf(pdf(draw), "a.pdf"))
    captions = [unit for unit in found if unit.kind == "caption"]
    sentences = " ".join(unit.text for unit in found if unit.kind != "caption")
    assert captions[0].text == "Figure 1.2: How loud the machines are, in decibels."
    if is_drawn:
        assert (captions[1].text, captions[1].lead) == ("90; 60; 30; Lathe; Saw; Drill", captions[0].text)
        assert "Lathe" not in sentences
    else:
        assert len(captions) == 1
        assert "Lathe" in sentences
    assert "Wear ear muffs" in sentences
