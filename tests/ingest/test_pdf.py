"""PDFs are read page by page, in the order in which a person reads them."""

from functools import partial
from io import BytesIO

import pypdf
import pytest
from pypdf.constants import PageLabelStyle
from reportlab.pdfgen.canvas import Canvas
from tests.ingest.drawn import BODY, Draw, heading, pdf, places_hold, text, texts, units

from lutrin.ingest.page import page_html
from lutrin_formats.pdf import parse_pdf
from lutrin_formats.pdf_glyphs import _letters


def test_headings_paragraphs_and_hyphenation() -> None:
    """Large letters are headings, broken words are mended, lines make paragraphs, places are exact."""

    def page(canvas: Canvas) -> None:
        heading(canvas, "Chapter 1: Motion")
        text(canvas, BODY)
        heading(canvas, "1.1 Encoders", top=660, size=14)
        text(canvas, ["Encoders count.", "", "A real-time loop reads them in real-", "time."], top=640)

    document = parse_pdf(pdf(page), "motion.pdf")
    assert document.title == "Chapter 1: Motion"
    assert [(s.heading_path, s.level, s.page) for s in document.sections] == [
        (("Chapter 1: Motion",), 1, 1),
        (("Chapter 1: Motion", "1.1 Encoders"), 2, 1),
    ]
    assert texts(document) == [
        "A robot moves when torque acts on its joints.",
        "The controller computes the torque every millisecond.",
        "It needs the angle of each joint, which an encoder measures.",
        "Encoders count.",
        "A real-time loop reads them in real-time.",
    ]
    assert places_hold(document)


def test_two_columns_are_read_one_after_the_other() -> None:
    """Below a heading over the full width."""
    left = [f"Left line {i} has quite a few words in" for i in range(12)]
    right = [f"Right line {i} has quite a few words" for i in range(12)]

    def page(canvas: Canvas) -> None:
        heading(canvas, "A title that spans both of the columns")
        text(canvas, left, x=60)
        text(canvas, right, x=310)

    document = parse_pdf(pdf(page), "columns.pdf")
    assert " ".join(texts(document)) == " ".join([*left, *right])


def test_a_heading_of_the_second_column_beside_a_full_line_of_the_first() -> None:
    """Its larger letters make the gap look narrow; still the line does not run over both columns."""

    def page(canvas: Canvas) -> None:
        full = "Loaded lines of the left column go to the border"
        text(canvas, [*(f"Left {i} has quite a few words in its line" for i in range(4)), full, "The end of it."], x=60)
        text(canvas, [f"Right {i} has quite a few words in its line" for i in range(4)], x=309)
        text(canvas, ["4 Wheels"], x=309, top=664, font="Helvetica-Bold", size=16)
        text(canvas, [f"Wheel {i} has quite a few words in its line" for i in range(4)], x=309, top=640)

    document = parse_pdf(pdf(page), "columns.pdf")
    words = " ".join(texts(document))
    assert words.index("Left 0") < words.index("The end of it.") < words.index("Right 0") < words.index("Wheel 0")
    assert [section.heading_path[-1] for section in document.sections][-1] == "4 Wheels"


def test_columns_with_a_table_and_bold_words_keep_their_order() -> None:
    """A table in one column, a word in bold letters and a running title over both do not disturb the reading."""

    def page(number: int) -> Draw:
        def draw(canvas: Canvas) -> None:
            text(canvas, ["Handbook of the lab"], x=60, top=800, size=8)
            text(canvas, [f"{number} Chapter title"], x=420, top=800, size=8)
            text(canvas, [str(number)], x=290, top=40, size=8)
            lines = [f"Left line {i} of page {number} has some more words" for i in range(6)]
            top = text(canvas, lines, x=60)
            for row in range(4):
                text(canvas, [f"part {row}"], x=64, top=top - 20 - 16 * row, size=9)
                text(canvas, [f"{row} kg"], x=180, top=top - 20 - 16 * row, size=9)
            writing = canvas.beginText(310, 722)
            for index in range(12):
                writing.setFont("Helvetica-Bold", 11)
                writing.textOut(f"Term {index}.")
                writing.setFont("Helvetica", 11)
                writing.textLine(f" It is explained on page {number}.")
            canvas.drawText(writing)

        return draw

    document = parse_pdf(pdf(*(page(n) for n in (1, 2, 3))), "mixed.pdf")
    rows = [unit.text for unit in units(document) if unit.kind == "table_row"]
    assert rows == ["part 1 | 1 kg", "part 2 | 2 kg", "part 3 | 3 kg"] * 3
    words = " ".join(texts(document))
    assert "Handbook" not in words
    assert "Chapter title" not in words
    assert (
        words.index("Left line 5 of page 1") < words.index("part 1") < words.index("Term 0. It is explained on page 1.")
    )
    assert words.index("Term 11. It is explained on page 1.") < words.index("Left line 0 of page 2")


def test_a_page_of_contents_is_left_out() -> None:
    """Its titles are the headings anyway, and no answer is in it."""
    names = [f"Chapter {i} about motors" for i in range(1, 12)]

    def contents(canvas: Canvas) -> None:
        text(canvas, [f"{name} ..... {i + 1}" for i, name in enumerate(names)])

    def chapter(name: str) -> Draw:
        def draw(canvas: Canvas) -> None:
            canvas.bookmarkPage(name)
            canvas.addOutlineEntry(name, name)
            text(canvas, [name, "", f"The text of {name} begins here."])

        return draw

    document = parse_pdf(pdf(contents, *map(chapter, names), title="Motors"), "contents.pdf")
    assert [section.title for section in document.sections] == ["Motors", *names]
    assert texts(document) == [f"The text of {name} begins here." for name in names]


def test_safety_notices_are_warnings() -> None:
    """A box with a signal word, its text too, and nothing after it."""

    def page(canvas: Canvas) -> None:
        text(canvas, ["DANGER: Charging"], font="Helvetica-Bold")
        text(canvas, ["Never charge a swollen battery."], top=706)
        text(canvas, ["The charger is blue."], top=670)

    document = parse_pdf(pdf(page), "danger.pdf")
    assert [(unit.text, unit.warning) for unit in units(document)] == [
        ("DANGER: Charging", True),
        ("Never charge a swollen battery.", True),
        ("The charger is blue.", False),
    ]


def test_headers_and_footers_are_left_out() -> None:
    """Lines at the edges of every page, such as page numbers, are no text of the book."""

    def page(number: int) -> Draw:
        def draw(canvas: Canvas) -> None:
            text(canvas, ["Physical AI - First Edition"], top=810, size=9)
            text(canvas, [f"Page {number} begins. It says something new."])
            text(canvas, [f"Page {number} of 4"], x=280, top=30, size=9)

        return draw

    document = parse_pdf(pdf(*(page(n) for n in range(1, 5))), "book.pdf")
    assert texts(document) == [text for n in range(1, 5) for text in (f"Page {n} begins.", "It says something new.")]
    (notice,) = document.notices
    assert "Physical AI - First Edition" in notice.message
    assert "Page 1 of 4" in notice.message
    assert "Page 2" not in notice.message


def test_pages_and_their_printed_labels() -> None:
    """Each page's start in the text is known, an empty page included, and the reader's pages are numbered alike."""

    def page(line: str) -> Draw:
        return lambda canvas: text(canvas, [line] if line else []) and None

    data = pdf(page("Preface words."), page(""), page("First words."))
    writer = pypdf.PdfWriter(clone_from=BytesIO(data))
    writer.set_page_label(0, 1, style=PageLabelStyle.LOWERCASE_ROMAN)
    writer.set_page_label(2, 2, style=PageLabelStyle.DECIMAL)
    buffer = BytesIO()
    writer.write(buffer)
    document = parse_pdf(buffer.getvalue(), "labels.pdf")
    assert document.page_labels == ("i", "ii", "1")
    first, empty, last = document.page_starts
    assert document.source[first:].startswith("Preface")
    assert document.source[last:].startswith("First words.")
    assert document.source[empty:last] == "\f"
    assert "First words." in page_html(document.source, "labels.pdf").partition('id="page-3"')[2]


def test_a_sentence_goes_on_over_the_page() -> None:
    """Its range reaches from one page to the next."""

    def first(canvas: Canvas) -> None:
        text(canvas, ["One sentence begins here and", "goes on over the"])

    def second(canvas: Canvas) -> None:
        text(canvas, ["edge of the page. Another one", "follows it."])

    document = parse_pdf(pdf(first, second), "over.pdf")
    assert texts(document) == [
        "One sentence begins here and goes on over the edge of the page.",
        "Another one follows it.",
    ]
    assert document.source[document.page_starts[1] :].startswith("edge of the page.")
    assert places_hold(document)


def test_chapters_of_one_size_are_no_title() -> None:
    """The first of several headings of the first rank names a chapter, not the file, and holds no other chapter."""

    def chapter(name: str) -> Draw:
        def draw(canvas: Canvas) -> None:
            heading(canvas, name)
            text(canvas, [f"The text of {name}."])

        return draw

    document = parse_pdf(pdf(chapter("1 Motors"), chapter("2 Sensors")), "robots.pdf")
    assert document.title == "Robots"
    assert [section.heading_path for section in document.sections] == [
        ("Robots",),
        ("Robots", "1 Motors"),
        ("Robots", "2 Sensors"),
    ]


def test_a_title_in_large_letters_is_no_running_header() -> None:
    """Its words are at the head of every page, and the file is called so though the bookmarks name chapters only."""

    def page(number: int) -> Draw:
        def draw(canvas: Canvas) -> None:
            text(canvas, ["Mime Database"], top=800, size=20 if number == 0 else 8)
            canvas.bookmarkPage(f"{number}")
            canvas.addOutlineEntry(f"{number}. Chapter", f"{number}")
            text(canvas, [f"{number}. Chapter", "", f"This is what chapter {number} says."], top=700)

        return draw

    document = parse_pdf(pdf(*map(page, range(5))), "spec.pdf")
    assert document.title == "Mime Database"
    assert document.source.count("Mime Database") == 1


def test_running_titles_of_a_page_on_its_side_are_left_out() -> None:
    """They are elsewhere on it, and the page moves no other page's edges."""

    def page(number: int, *, aside: bool = False) -> Draw:
        def draw(canvas: Canvas) -> None:
            text(canvas, ["Robots for schools"], top=800, size=8)
            text(canvas, [f"- {number} -"], x=280, top=25, size=8)
            canvas.saveState()
            if aside:
                canvas.translate(300, 100)
                canvas.rotate(90)
            lines = [f"Page {number} says this.", f"And it goes on with that on page {number}.", "It ends here."]
            text(canvas, lines, x=0 if aside else 72, top=0 if aside else 700)
            canvas.restoreState()

        return draw

    document = parse_pdf(pdf(*map(page, range(1, 5)), page(5, aside=True)), "a.pdf")
    assert "schools" not in document.source
    assert "- 5 -" not in document.source
    assert "- 1 -" not in document.source
    assert "Page 5 says this." in texts(document)


def test_a_single_bookmark_is_no_outline() -> None:
    """Programs that print write one with the title; the headings are then those that look like headings."""

    def page(canvas: Canvas) -> None:
        canvas.bookmarkPage("top")
        canvas.addOutlineEntry("Handbook", "top")
        heading(canvas, "Handbook")
        heading(canvas, "1 Motors", top=720, size=14)
        text(canvas, BODY, top=690)
        heading(canvas, "2 Sensors", top=600, size=14)
        text(canvas, ["A sensor measures."], top=570)

    document = parse_pdf(pdf(page, title="Handbook"), "printed.pdf")
    assert [section.title for section in document.sections] == ["Handbook", "1 Motors", "2 Sensors"]


def test_bookmarks_are_the_headings() -> None:
    """In any font size; a bookmark whose words the page lacks is a heading, too."""

    def page(canvas: Canvas) -> None:
        for level, name in enumerate(["Basics", "Motors"]):
            canvas.bookmarkPage(name)
            canvas.addOutlineEntry(name, name, level=level)
        text(canvas, ["Motors", "", "Motors turn."])

    document = parse_pdf(pdf(page, title="Handbook"), "outline.pdf")
    assert document.title == "Handbook"
    assert [section.heading_path for section in document.sections] == [
        ("Handbook",),
        ("Handbook", "Basics"),
        ("Handbook", "Basics", "Motors"),
    ]
    assert texts(document) == ["Motors turn."]


def test_tables_are_rows() -> None:
    """Cells in line under one another; the first row leads the others."""

    def page(canvas: Canvas) -> None:
        text(canvas, ["The robot has these parts."])
        for index, row in enumerate([("Part", "Mass", "Count"), ("Arm", "2.1 kg", "2"), ("Leg", "4.5 kg", "2")]):
            for x, cell in zip((72, 200, 320), row, strict=True):
                text(canvas, [cell], x=x, top=690 - 14 * index)

    document = parse_pdf(pdf(page), "table.pdf")
    rows = [unit for unit in units(document) if unit.kind == "table_row"]
    assert [(row.text, row.lead) for row in rows] == [
        ("Arm | 2.1 kg | 2", "Part | Mass | Count"),
        ("Leg | 4.5 kg | 2", "Part | Mass | Count"),
    ]
    assert places_hold(document)


def test_the_titles_of_a_matrix_stand_left_of_it_and_below() -> None:
    """They are no cells: a row keeps its columns, and the numbers at the foot are the heads."""

    def page(canvas: Canvas) -> None:
        top = text(canvas, ["The risk is how bad it is, times how often it may happen."]) - 20
        for harm in (3, 2, 1):
            for column, number in enumerate([harm, *(harm * often for often in (1, 2, 3))]):
                text(canvas, [str(number)], x=200 + 40 * column, top=top)
            if harm == 2:
                text(canvas, ["harm"], x=100, top=top, size=9)
            top -= 30
        for often in (1, 2, 3):
            text(canvas, [str(often)], x=200 + 40 * often, top=top)
        text(canvas, ["how often"], x=270, top=top - 14, size=9)
        text(canvas, ["Figure 1: All risks.", "Table 2: What they mean."], top=top - 30)

    found = units(parse_pdf(pdf(page), "matrix.pdf"))
    assert [(unit.text, unit.lead) for unit in found if unit.kind == "table_row"] == [
        (f"{harm} | {harm} | {2 * harm} | {3 * harm}", "harm | 1 | 2 | 3") for harm in (3, 2, 1)
    ]
    assert [unit.text for unit in found if unit.kind == "caption"] == [
        "Figure 1: All risks.",
        "Table 2: What they mean.",
    ]


def test_what_stands_beside_the_rows_of_a_table_is_none_of_their_cells() -> None:
    """It is read before them."""

    def page(canvas: Canvas) -> None:
        rows = [("Part", "Mass"), ("Arm", "2.1 kg"), ("Leg", "4.5 kg"), ("Head", "1.2 kg")]
        for index, row in enumerate(rows):
            for x, cell in zip((160, 260), row, strict=True):
                text(canvas, [cell], x=x, top=690 - 14 * index)
        text(canvas, ["Kestrel"], x=72, top=690 - 28)

    found = [unit.text for unit in units(parse_pdf(pdf(page), "beside.pdf"))]
    assert found == ["Kestrel", "Arm | 2.1 kg", "Leg | 4.5 kg", "Head | 1.2 kg"]


def test_a_first_cell_that_wraps_is_one() -> None:
    """Its second line is nearer to its row than to the next; one that stands alone in even rows is a row's title."""

    def page(canvas: Canvas, wraps: float) -> None:
        rows = [("Part", "Torque"), ("Arm joint with", "12 Nm"), ("Leg", "60 Nm")]
        for row, top in zip(rows, (690, 670, 642), strict=True):
            for x, cell in zip((72, 220), row, strict=True):
                text(canvas, [cell], x=x, top=top)
        text(canvas, ["a long name"], x=72, top=wraps)

    found = [unit.text for unit in units(parse_pdf(pdf(partial(page, wraps=658)), "wraps.pdf"))]
    assert found == ["Arm joint with a long name | 12 Nm", "Leg | 60 Nm"]
    assert "Arm joint with | 12 Nm" in texts(parse_pdf(pdf(partial(page, wraps=656)), "even.pdf"))


def test_a_full_cell_does_not_run_into_the_next() -> None:
    """No gap is left behind it, but the cells above and below say where the next one starts."""
    rows = [("Class", "Put it out with", "Never use"), ("A", "water, foam", "nothing is barred")]
    rows += [("B", "foam, carbon dioxide, sand", "a water jet"), ("D", "dry sand alone", "water")]

    def page(canvas: Canvas) -> None:
        text(canvas, ["Fires are of four classes."])
        for index, row in enumerate(rows):
            for x, cell in zip((72, 130, 268), row, strict=True):
                text(canvas, [cell], x=x, top=690 - 14 * index)

    document = parse_pdf(pdf(page), "table.pdf")
    found = [unit.text for unit in units(document) if unit.kind == "table_row"]
    assert found == [" | ".join(row) for row in rows[1:]]


def test_a_table_of_long_cells_is_no_page_of_two_columns() -> None:
    """Its cells are side by side on the same lines, and the left ones do not fill their column."""
    rows = [(f"Subject number {i} of the list", f"Standard {i} by an organisation for such things") for i in range(9)]

    def page(canvas: Canvas) -> None:
        text(canvas, ["These documents treat the subjects in full, as far as they are public and known to us."])
        for index, row in enumerate(rows):
            for x, cell in zip((72, 300), row, strict=True):
                text(canvas, [cell], x=x, top=690 - 15 * index, size=9)

    document = parse_pdf(pdf(page), "table.pdf")
    found = [unit for unit in units(document) if unit.kind == "table_row"]
    assert [unit.text for unit in found] == [" | ".join(row) for row in rows[1:]]


def test_lists_and_code() -> None:
    """Bullets and numbers start items; fixed-width letters are code with its indentation."""

    def page(canvas: Canvas) -> None:
        top = text(canvas, ["Do this:", "• Switch it on and wait until", "  the light is green.", "2. Go on."])
        text(canvas, ["def f():", "    return 1"], top=top - 10, font="Courier", size=10)

    document = parse_pdf(pdf(page), "list.pdf")
    assert [(unit.kind, unit.text) for unit in units(document)] == [
        ("sentence", "Do this:"),
        ("list_item", "Switch it on and wait until the light is green."),
        ("list_item", "2. Go on."),
        ("code", "def f():\n    return 1"),
    ]


def test_a_rotated_page_reads_like_any_other() -> None:
    """Whether its text is turned or the page itself."""

    def turned(canvas: Canvas) -> None:
        canvas.rotate(90)
        text(canvas, ["Turned text begins.", "And ends."], x=72, top=-100)

    data = pdf(turned)
    writer = pypdf.PdfWriter(clone_from=BytesIO(data))
    writer.pages[0].rotate(90)
    buffer = BytesIO()
    writer.write(buffer)
    for source in (data, buffer.getvalue()):
        assert texts(parse_pdf(source, "turned.pdf")) == ["Turned text begins.", "And ends."]


def test_the_readers_page_has_pages_and_headings() -> None:
    """Each page is a section with an id, headings have the anchors of the document, text is escaped."""

    def page(canvas: Canvas) -> None:
        heading(canvas, "Motion <fast>")
        text(canvas, ["Torque & force."])

    document = parse_pdf(pdf(page, page), "a.pdf")
    page_text = page_html(document.source, "a.pdf")
    assert '<section class="page" id="page-2">' in page_text
    assert "<p>Torque &amp; force.</p>" in page_text
    assert [f'id="{s.anchor}"' in page_text for s in document.sections if s.anchor] == [True, True]


def test_words_stand_where_the_file_puts_them() -> None:
    """Words without a painted blank, stretched lines and spaced letters are read as printed."""

    def page(canvas: Canvas) -> None:
        pen = canvas.beginText(72, 720)
        pen.setFont("Times-Italic", 11)
        pen.setWordSpace(7)
        pen.textLine("A justified line of narrow letters is wide.")
        pen.setWordSpace(0)
        pen.setCharSpace(3)
        pen.textLine("Set apart.")
        pen.setCharSpace(0)
        canvas.drawText(pen)
        canvas.setFont("Times-Roman", 11)
        x = 72.0
        for word in ("Each", "word", "is", "painted", "alone", "(with", "care)."):
            canvas.drawString(x, 640, word)
            x += canvas.stringWidth(word, "Times-Roman", 11) + 3

    document = parse_pdf(pdf(page), "words.pdf")
    assert [unit.text for unit in units(document)] == [
        "A justified line of narrow letters is wide.",
        "Set apart.",
        "Each word is painted alone (with care).",
    ]


def test_a_cell_of_several_lines_is_one_cell() -> None:
    """Its row starts with the first column's cell; a sentence below the table is no part of it."""
    rows = [("Part", "Every", "What to do"), ("Hinge", "month", "Oil it; wipe"), ("", "", "off the rest.")]
    rows += [("Latch", "year", "Check it.")]

    def page(canvas: Canvas) -> None:
        text(canvas, BODY)
        for index, row in enumerate(rows):
            for x, cell in zip((72, 200, 320), row, strict=True):
                text(canvas, [cell], x=x, top=600 - 14 * index)
        text(canvas, ["That is all there is to it."], top=500)

    found = units(parse_pdf(pdf(page), "care.pdf"))
    assert [unit.text for unit in found if unit.kind == "table_row"] == [
        "Hinge | month | Oil it; wipe off the rest.",
        "Latch | year | Check it.",
    ]
    assert found[-1].text == "That is all there is to it."


def test_a_note_below_a_page_stands_apart_from_the_sentence_that_goes_on() -> None:
    """The sentence is one, and the note a paragraph of its own."""

    def first(canvas: Canvas) -> None:
        text(canvas, [*BODY, "The seal must be wet because a dry one"])
        text(canvas, ["1 It is made of carbon."], top=90, size=8)

    document = parse_pdf(pdf(first, lambda canvas: text(canvas, ["cracks within ten seconds.", *BODY])), "pump.pdf")
    assert "The seal must be wet because a dry one cracks within ten seconds." in texts(document)
    assert "1 It is made of carbon." in texts(document)


def test_hyphens_that_belong_to_a_word_stay() -> None:
    """Between figures, before a name, after a word that makes compounds, and where the book has the word itself."""
    broken = ["A self-", "sealing tank of type BX-", "7 holds 20-", "30 litres in the Jean-", "Luc model, a ther-"]

    def page(canvas: Canvas) -> None:
        text(canvas, [*broken, "mostat and a cross-", "over of state-of-the-", "art. The crossover is red."])

    assert texts(parse_pdf(pdf(page), "tank.pdf"))[0] == (
        "A self-sealing tank of type BX-7 holds 20-30 litres in the Jean-Luc model, a thermostat and a crossover of "
        "state-of-the-art."
    )


def test_accents_and_ligatures_are_letters() -> None:
    """Each accent on its letter."""
    assert _letters("caf\u00b4e Z\u00a8urich \ufb01nal o\ufb03ce nai\u0308ve") == "café Zürich final office naïve"
    assert _letters("don\u00b4t 5 \u00b4 9") == "don\u00b4t 5 \u00b4 9"


def test_what_the_crop_box_hides_is_not_read() -> None:
    """On a page that is turned, too."""
    for angle in (0, 90):
        writer = pypdf.PdfWriter()
        drawn = pdf(lambda canvas: (text(canvas, BODY), text(canvas, ["slug.indd 3"], top=835)))
        for page in pypdf.PdfReader(BytesIO(drawn)).pages:
            page.cropbox.upper_right = (595, 820)
            writer.add_page(page.rotate(angle))
        out = BytesIO()
        writer.write(out)
        assert "slug" not in " ".join(texts(parse_pdf(out.getvalue(), "press.pdf")))


MARKS = {
    "askew": (45, 60, 100, 400, "CONFIDENTIAL"),
    "steep": (60, 48, 200, 300, "Sample copy"),
    "across": (0, 60, 80, 640, "DRAFT"),
}


@pytest.mark.parametrize("kind", MARKS)
def test_a_watermark_is_no_text(kind: str) -> None:
    """Large letters askew, or level across the lines."""
    angle, size, x, y, words = MARKS[kind]

    def draw(canvas: Canvas) -> None:
        text(canvas, [f"{line} {number}" for number in range(4) for line in BODY])
        canvas.saveState()
        canvas.translate(x, y)
        canvas.rotate(angle)
        canvas.setFont("Helvetica-Bold", size)
        canvas.drawString(0, 0, words)
        canvas.restoreState()

    read = " ".join(texts(parse_pdf(pdf(draw), "a.pdf")))
    assert "computes the torque every millisecond" in read
    assert not any(letters in read for letters in (words, words[:3], "D R", "C O"))


def test_what_a_file_marks_as_no_text_of_its_page_is_none() -> None:
    """A watermark, a header, a stamp; other marked content is text."""

    def draw(canvas: Canvas) -> None:
        for place, kind in enumerate(("Watermark", "Header", "Bates")):
            canvas._code.append(f"/Artifact <</Subtype /{kind} /Type /Pagination>> BDC")
            text(canvas, [f"Licensed to Jane Doe ({kind})"], top=300 - 40 * place)
            canvas._code.append("EMC")
        canvas._code.append("/P <</MCID 0>> BDC")
        text(canvas, BODY)
        canvas._code.append("EMC")

    read = texts(parse_pdf(pdf(draw), "a.pdf"))
    assert len(read) == 3
    assert not any("Jane" in one for one in read)


def test_white_on_white_is_not_read() -> None:
    """Grey and coloured text is read, and so is white text on a fill, a shade or a picture."""

    def page(ground: Draw, colour: Draw) -> str:
        def draw(canvas: Canvas) -> None:
            text(canvas, BODY)
            ground(canvas)
            colour(canvas)
            text(canvas, ["The answer is forty."], top=500)

        return " ".join(texts(parse_pdf(pdf(draw), "a.pdf")))

    whites: tuple[Draw, ...] = (
        lambda canvas: canvas.setFillGray(1),
        lambda canvas: canvas.setFillColorRGB(1, 1, 1),
        lambda canvas: canvas.setFillColorCMYK(0, 0, 0, 0),
    )

    def bar(canvas: Canvas) -> None:
        canvas.setFillColorRGB(0.1, 0.2, 0.4)
        canvas.rect(60, 490, 300, 30, fill=1, stroke=0)

    for white in whites:
        assert "forty" not in page(lambda _: None, white)
        assert "forty" in page(bar, white)
    assert "forty" in page(lambda canvas: canvas.linearGradient(0, 0, 9, 9, ("red", "blue")), whites[0])
    assert "forty" in page(lambda _: None, lambda canvas: canvas.setFillGray(0.9))


def test_small_text_askew_stands_behind_the_text() -> None:
    """In one piece: the label of an axis."""

    def draw(canvas: Canvas) -> None:
        text(canvas, BODY)
        canvas.saveState()
        canvas.translate(100, 400)
        canvas.rotate(45)
        canvas.setFont("Helvetica", 9)
        canvas.drawString(0, 0, "Load in tonnes")
        canvas.restoreState()

    assert texts(parse_pdf(pdf(draw), "a.pdf"))[-1].endswith("Load in tonnes")


@pytest.mark.parametrize("made", ["Microsoft Word - kiln_v3.doc", "10811.exe", "Untitled-2", "PowerPoint Presentation"])
def test_a_title_that_a_program_made_up_is_not_shown(made: str) -> None:
    """The page's own or the file's name is."""
    assert parse_pdf(pdf(lambda canvas: text(canvas, BODY), title=made), "the-kiln.pdf").title == "The Kiln"


def test_a_manual_as_latex_sets_it_is_read_by_its_chapters() -> None:
    """Its contents lead to numbers by dots, each page is headed by its chapter, and bookmarks lack the numbers."""
    chapters = ["Choosing a kiln", "Firing the clay", "Cooling it again"]

    def contents(canvas: Canvas) -> None:
        dots = " . . . . . . . . . . . . . . "
        text(canvas, [f"{n}.{m} What is said of it{dots}{4 * n + m}" for n in range(1, 4) for m in range(1, 4)])

    def page(chapter: int, number: int) -> Draw:
        def draw(canvas: Canvas) -> None:
            if number:
                text(canvas, [f"CHAPTER {chapter + 1}. {chapters[chapter].upper()}"], top=790, size=10)
            else:
                canvas.bookmarkPage(str(chapter))
                canvas.addOutlineEntry(chapters[chapter], str(chapter))
                text(canvas, [f"{chapter + 1} {chapters[chapter]}"], top=760, size=11, font="Helvetica-Bold")
            text(canvas, [f"Rule {chapter}.{number} holds for every potter of the town, whatever", "the weather is."])

        return draw

    document = parse_pdf(pdf(contents, *(page(c, n) for c in range(3) for n in range(4))), "kilns.pdf")
    assert [section.title for section in document.sections][1:] == [f"{n} {one}" for n, one in enumerate(chapters, 1)]
    rules = [
        f"Rule {c}.{n} holds for every potter of the town, whatever the weather is." for c in range(3) for n in range(4)
    ]
    assert texts(document) == rules
