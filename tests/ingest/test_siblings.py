"""Kinds of markup that differ in how they are written and not in what a reader sees: one table for each kind."""

import re
from collections.abc import Callable

import pytest
from tests.ingest.drawn import pdf
from tests.ingest.made import READERS, book, docx, html, markdown, paragraph, texts, units

from lutrin.ingest.hypertext import parse_html
from lutrin.ingest.markdown import parse_markdown
from lutrin.ingest.page import page_html
from lutrin.records import Document
from lutrin_formats.docx import parse_docx
from lutrin_formats.pdf import parse_pdf
from lutrin_formats.rst import parse_rst

RAISED = [
    "<sup>9</sup>",
    '<span style="vertical-align: super; font-size: 70%">9</span>',
    '<span style="vertical-align:0.4em">9</span>',
    '<span style="position: relative; top: -0.5em">9</span>',
    '<span class="superscript">9</span>',
    '<small class="sup">9</small>',
]


@READERS
def test_what_is_raised_never_becomes_a_digit(read: Callable[[str], Document]) -> None:
    """By an element, a style, a class."""
    for raised in RAISED:
        assert texts(read(f"<p>It has 10{raised} bytes.</p>")) == ["It has 10^9 bytes."]


LOWERED = [
    "<sub>2</sub>",
    '<span style="vertical-align: sub">2</span>',
    '<i style="position: relative; bottom: -2px">2</i>',
    '<span class="subscript">2</span>',
]


@READERS
def test_what_is_lowered_stays_with_its_letters(read: Callable[[str], Document]) -> None:
    """As in a browser."""
    for lowered in LOWERED:
        assert texts(read(f"<p>Water is H{lowered}O.</p>")) == ["Water is H2O."]


def test_a_rule_of_the_page_raises_too() -> None:
    """As in most EPUBs."""
    page = (
        "<style>.x { vertical-align: super; font-size: 0.7em }</style><p>It has 10<span class='x'>9</span> bytes.</p>"
    )
    assert texts(html(page)) == texts(book(page)) == ["It has 10^9 bytes."]


def test_word_and_pdf_raise_in_more_ways_than_one() -> None:
    """By a position, by a rise of the pen."""
    run = '<w:r><w:t xml:space="preserve">It has 10</w:t></w:r><w:r><w:rPr>{}</w:rPr><w:t>9</w:t></w:r>'
    for properties in ('<w:vertAlign w:val="superscript"/>', '<w:position w:val="8"/><w:sz w:val="14"/>'):
        word = docx(paragraph("T", "Title"), f"<w:p>{run.format(properties)}</w:p>")
        assert texts(parse_docx(word, "a.docx")) == ["It has 10^9"]

    def draw(canvas: object) -> None:
        pen = canvas.beginText(72, 600)  # type: ignore[attr-defined]  # a canvas of reportlab
        for letters, rise, size in (("The pole has", 0, 11), (" -3", 0, 11), ("+2", 4, 7), (" volts.", 0, 11)):
            pen.setFont("Helvetica", size)
            pen.setRise(rise)
            pen.textOut(letters)
        canvas.drawText(pen)  # type: ignore[attr-defined]  # a canvas of reportlab

    assert texts(parse_pdf(pdf(draw), "a.pdf")) == ["The pole has -3^+2 volts."]


HIDDEN = [
    "<p hidden>No.</p>",
    '<p style="display: none">No.</p>',
    '<p style="visibility:hidden">No.</p>',
    '<p style="opacity: 0">No.</p>',
    '<p style="font-size:0">No.</p>',
    '<p style="position:absolute; left:-9999px">No.</p>',
    "<p>Yes. <span hidden>No.</span></p>",
    '<p>Yes. <span style="display:none"><b>No.</b></span></p>',
    "<!-- No. -->",
]


@READERS
def test_what_is_hidden_is_not_read(read: Callable[[str], Document]) -> None:
    """It is not shown either; text that a reader can unfold is read."""
    for hidden in HIDDEN:
        document = read(f"{hidden}\n\n<details><summary>More</summary>\n\nSeen.\n\n</details>")
        assert "No" not in " ".join(texts(document))
        assert "No." not in page_html(document.source, document.filename)
        assert [text for text in texts(document) if text not in {"Yes.", "More"}] == ["Seen."]


LISTINGS = [
    ('<ol start="5">{}</ol>', ["5. x", "6. y"]),
    ('<ol type="a">{}</ol>', ["a. x", "b. y"]),
    ('<ol type="I" start="4">{}</ol>', ["IV. x", "V. y"]),
    ("<ol reversed>{}</ol>", ["2. x", "1. y"]),
    ('<ol reversed start="9">{}</ol>', ["9. x", "8. y"]),
    ("<ul>{}</ul>", ["x", "y"]),
]


@READERS
def test_items_have_the_numbers_that_a_browser_shows(read: Callable[[str], Document]) -> None:
    """Of every kind of list."""
    for listing, shown in LISTINGS:
        assert texts(read(listing.format("<li>x</li><li>y</li>"))) == shown
        assert [unit.kind for unit in units(read(listing.format("<li>x</li><li>y</li>")))] == ["list_item"] * 2


MATHML = [
    ("<math><mfrac><mi>a</mi><mi>b</mi></mfrac></math>", "$\\frac{a}{b}$"),
    ("<math><msup><mi>x</mi><mn>2</mn></msup></math>", "$x^{2}$"),
    ("<math><msqrt><mi>x</mi></msqrt></math>", "$\\sqrt{x}$"),
]


@READERS
def test_mathml_without_an_annotation_is_read(read: Callable[[str], Document]) -> None:
    """As TeX."""
    for formula, tex in MATHML:
        assert texts(read(f"<p>It is {formula} here.</p>")) == [f"It is {tex} here."]


SQUARE = "<math><msup><mi>x</mi><mn>2</mn></msup></math>"


@pytest.mark.parametrize(
    "formula",
    [
        f'<mjx-container class="MathJax"><mjx-math>x</mjx-math><mjx-assistive-mml>{SQUARE}</mjx-container>',
        '<img src="https://latex.codecogs.com/gif.latex?x%5E%7B2%7D">',
        '<img src="https://s0.wp.com/latex.php?latex=x%5E%7B2%7D&bg=ffffff">',
        '<img class="tex" alt="x^{2}" src="f.png">',
    ],
)
def test_whoever_draws_a_formula_it_is_read(formula: str) -> None:
    """MathJax 3, services that draw TeX, pictures with their TeX."""
    assert texts(html(f"<p>It is {formula} here.</p>")) == ["It is $x^{2}$ here."]


def test_brackets_of_a_page_are_no_formulas() -> None:
    """Only what its own delimiters mark is."""
    page = "<p>Read a[x_i], [n = 5], (a_b) and {x}.</p><p>:::note</p><p>{{ value }} stays.</p>"
    assert texts(html(page)) == ["Read a[x_i], [n = 5], (a_b) and {x}.", ":::note", "{{ value }} stays."]


BOXES = [
    "> **Warning**\n> Mind it.",
    "> [!CAUTION]\n> Mind it.",
    "> \u26a0\ufe0f Mind it.",
    "{: .warning }\nMind it.",
    "{: .warning }\n> Mind it.",
    "> Mind it.\n{: .warning }",
    "{: .warning-title }\n> Mind it.",
    "```admonish danger\nMind it.\n```",
    "{% note warning %}\nMind it.\n{% endnote %}",
    '{{< callout type="error" >}}\nMind it.\n{{< /callout >}}',
    '<blockquote class="is-danger">\nMind it.\n</blockquote>',
    "!!! danger\n    Mind it.",
    "::: {.callout-warning}\nMind it.\n:::",
]


def test_a_warning_of_any_maker_is_one() -> None:
    """And its text stands alone."""
    for box in BOXES:
        (unit,) = units(markdown(box))
        assert unit.warning
        assert unit.text.removeprefix("\u26a0\ufe0f ") == "Mind it."
    (unit, behind) = units(markdown('{{< alert "warning" >}}Mind it.{{< /alert >}}\n\nAfter.\n'))
    assert (unit.text, unit.warning, behind.warning) == ("Warning: Mind it.", True, False)


@pytest.mark.parametrize("read", [html, book, lambda page: parse_docx(docx(page), "a.docx")])
def test_a_table_of_one_cell_is_a_frame(read: Callable[[str], Document]) -> None:
    """As people draw a box in Word; it warns if it says so first."""
    for first, warns in (("Warning", True), ("Caution:", True), ("Tip", False)):
        cell = "".join(map(paragraph, (first, "Mind it.")))
        word = f"<w:tbl><w:tr><w:tc>{cell}</w:tc></w:tr></w:tbl>"
        page = f"<table><tr><td><p>{first}</p><p>Mind it.</p></td></tr></table>"
        document = read(page if read in {html, book} else word)
        assert [(unit.text, unit.warning) for unit in units(document)][1:] == [("Mind it.", warns)]


UNKNOWN_VALUES = [
    ("{v}", "5"),
    ("{`about ${v} m`}", "about 5 m"),
    ("{props.unknown}", "[\u2026]"),
    ("{compute(3)}", "[\u2026]"),
    ("{`${unknown} m`}", "[\u2026] m"),
    ("{null}", ""),
    ("{/* no */}", ""),
    ("{' '}", ""),
]


def test_a_value_that_is_not_known_leaves_its_mark() -> None:
    """In text and page alike, and a notice names it."""
    for expression, shown in UNKNOWN_VALUES:
        document = parse_markdown(f"# P\n\nexport const v = 5\n\nIt is ({expression}).\n", "a.mdx")
        assert texts(document) == [f"It is ({shown})."] or (shown == "" and texts(document) == ["It is ( )."])
        assert f"({shown}" in page_html(document.source, "a.mdx").replace("( )", "()")
        assert bool(document.notices) == ("[\u2026]" in shown)


def test_a_list_of_components_that_is_computed_is_named() -> None:
    """It cannot be read, and is not dropped in silence."""
    (notice,) = parse_markdown("# P\n\n{items.map(item => <li>{item}</li>)}\n\nText.\n", "a.mdx").notices
    assert notice.line == 3
    assert "items.map" in notice.message


PROGRAM_MARKS = [
    ("+++\n\nText.", ["Text."]),
    ("{% comment %}No.{% endcomment %}\n\nText.", ["Text."]),
    ('{{< ref "a.md" >}}Text.', ["Text."]),
    ("<details>\n<summary>An <b>answer</b></summary>\nText.\n</details>", ["An answer", "Text."]),
    ("<pre><code>a &lt; b<br>c</code></pre>", ["a < b\nc"]),
    ("| A |\n|---|\n| 1 |\n\nTable: Loads {#tbl-loads}", ["1", "Loads"]),
    (": Loads\n\n| A |\n|---|\n| 1 |", ["Loads", "1"]),
]


def test_marks_of_programs_are_no_text() -> None:
    """Breaks of cells, comments, references, captions, entities in code."""
    for source, shown in PROGRAM_MARKS:
        assert texts(markdown(source)) == shown


@pytest.mark.parametrize(
    "litter",
    [
        '<a class="anchor" href="#h">#</a>',
        '<div class="prev-next"><a href="a">Previous</a><a href="b">Next</a></div>',
        '<ol class="breadcrumb"><li><a href="/">Home</a></li></ol>',
        '<a class="skip-link" href="#main">Skip to the content</a>',
    ],
)
@pytest.mark.parametrize("read", [html, book])
def test_what_leads_through_a_site_is_no_text(read: Callable[[str], Document], litter: str) -> None:
    """Links to a heading, to the page before and to those above."""
    assert texts(read(f"{litter}<p>Text.</p>")) == ["Text."]


def test_a_field_of_word_is_read() -> None:
    """For example the number of a caption."""
    field = '<w:fldSimple w:instr=" SEQ Figure "><w:r><w:t>3</w:t></w:r></w:fldSimple>'
    caption = f'<w:p><w:r><w:t xml:space="preserve">Figure </w:t></w:r>{field}<w:r><w:t>: The lid</w:t></w:r></w:p>'
    assert texts(parse_docx(docx(paragraph("T", "Title"), caption), "a.docx")) == ["Figure 3: The lid"]


def test_the_first_row_below_a_table_s_title_holds_its_heads() -> None:
    """If nothing is marked as a head."""
    rows = ("<td colspan=2>Planets</td>", "<td>Name</td><td>Moons</td>", "<td>Mars</td><td>2</td>")
    page = f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"
    assert [(unit.lead, unit.text) for unit in units(html(page))][-1] == ("Name | Moons", "Mars | 2")


def test_a_quoted_cell_of_values_with_commas_is_what_it_says() -> None:
    """Two quotation marks in it are one, and it may go on in the next line."""
    rows = ':header: Name, "What ""it"" says"\n\nAnna, "He said ""no"", twice"\nCleo,"goes\non"\n'
    found = [(unit.text, unit.lead) for unit in units(markdown(f"Text.\n\n```{{csv-table}}\n{rows}```\n"))]
    head = 'Name | What "it" says'
    assert found[1:] == [('Anna | He said "no", twice', head), ("Cleo | goes on", head)]


def test_styles_of_word_raise_and_hide() -> None:
    """Character styles override paragraph styles, a run's own format overrides both, and base styles count."""
    styles = (
        '<w:style w:type="character" w:styleId="Raised"><w:rPr><w:vertAlign w:val="superscript"/></w:rPr></w:style>'
        '<w:style w:type="character" w:styleId="Power"><w:basedOn w:val="Raised"/></w:style>'
        '<w:style w:type="paragraph" w:styleId="Gone"><w:rPr><w:vanish/></w:rPr></w:style>'
    )

    def run(words: str, properties: str = "") -> str:
        return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{words}</w:t></w:r>'

    power, gone = run("9", '<w:rStyle w:val="Power"/>'), run("No.", '<w:rStyle w:val="Gone"/>')
    hidden, shown = '<w:pPr><w:pStyle w:val="Gone"/></w:pPr>', run("Yes.", '<w:vanish w:val="0"/>')
    word = docx(
        f"<w:p>{run('It has 10')}{power}{run(' bytes.')}{gone}</w:p>",
        f"<w:p>{hidden}{run('No.')}</w:p>",
        f"<w:p>{hidden}{shown}</w:p>",
        more_styles=styles,
    )
    assert texts(parse_docx(word, "a.docx")) == ["It has 10^9 bytes.", "Yes."]


def test_ruby_of_word_keeps_its_letters() -> None:
    """The reading follows the characters."""

    def run(name: str, words: str) -> str:
        return f"<w:{name}><w:r><w:t>{words}</w:t></w:r></w:{name}>"

    letter = "\u6f22"
    ruby = f"<w:r><w:ruby>{run('rt', 'kan')}{run('rubyBase', letter)}</w:ruby></w:r>"
    assert texts(parse_docx(docx(f"<w:p>{ruby}</w:p>"), "a.docx")) == [f"{letter} (kan)"]


def test_heads_of_word_that_span_rows_and_columns_are_heads() -> None:
    """The row below, which their cells span, holds heads too."""

    def cell(words: str, properties: str = "") -> str:
        return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(words)}</w:tc>"

    rows = [
        cell("Robot", '<w:vMerge w:val="restart"/>') + cell("Speed", '<w:gridSpan w:val="2"/>'),
        cell("", "<w:vMerge/>") + cell("least") + cell("most"),
        cell("Wren") + cell("1") + cell("2"),
    ]
    word = docx(f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>")
    found = [(unit.text, unit.lead) for unit in units(parse_docx(word, "a.docx"))]
    assert found == [("Wren | 1 | 2", "Robot | Speed least | Speed most")]


MAKERS_MARKS = [
    ('::: {.content-hidden when-format="html"}\nNo.\n:::\n\nYes.', ["Yes."]),
    ('::: {.content-visible when-format="pdf"}\nNo.\n:::\n\nYes.', ["Yes."]),
    ('::: {.content-visible unless-format="pdf"}\nYes.\n:::', ["Yes."]),
    ('::: {style="display: none"}\nNo.\n:::\n\nYes.', ["Yes."]),
    ("::: {lang=de}\nJa.\n:::", ["Ja."]),
    ("```math\nE = mc^2\n```", ["$$ E = mc^2 $$"]),
    ("\\begin{align}\na &= b\n\\end{align}", ["$$ \\begin{align} a &= b \\end{align} $$"]),
    ('{{< details "More" >}}Yes.{{< /details >}} So.', ["More: Yes.", "So."]),
    ('{{< tab "Mac" >}}Yes.{{< /tab >}}{{< tab "Win" >}}So.{{< /tab >}}', ["Mac: Yes.", "Win: So."]),
    ("Yes[. No]{style='display:none'}, [it]{.x style=\"color:red\"} is.", ["Yes, it is."]),
    ("Press {{< kbd Ctrl-C >}}.", ["Press Ctrl-C."]),
    ("It is `{python} mean(x)` and `r x`.", ["It is [\u2026] and [\u2026]."]),
    ("$$\nE = mc^2\n$$ {#eq-e}", ["$$ E = mc^2 $$"]),
    ('```{python}\n#| echo: false\n#| fig-cap: "The arm"\nplot()\n```', ["The arm"]),
    ('{{% notice warning "Beware" %}}\nHot.\n{{% /notice %}}', ["Beware", "Hot."]),
    ("* Contents\n{:toc}\n\n| a | b |\n|---|---|\n| 1 | 2 |\n{: .table }", ["1 | 2"]),
]


def test_what_quarto_hugo_and_kramdown_make_of_their_marks() -> None:
    """As their built pages show it."""
    for source, shown in MAKERS_MARKS:
        document = parse_markdown(f"# T\n\n{source}\n", "a.qmd")
        assert [unit.text for unit in units(document)] == shown


@pytest.mark.parametrize("read", [html, book])
def test_a_note_beside_the_text_touches_no_word(read: Callable[[str], Document]) -> None:
    """As Tufte's style sheet and those that follow it put notes into a sentence."""
    for kind in ("sidenote", "marginnote"):
        mark = '<label for="n" class="margin-toggle"></label><input type="checkbox" id="n" class="margin-toggle"/>'
        page = f'<p>It was built in 1905{mark}<span class="{kind}">So says he.</span> of bricks.</p>'
        assert texts(read(page)) == ["It was built in 1905 of bricks.", "So says he."]


def test_words_given_to_a_file_of_a_theme_stay() -> None:
    """A warning is one."""
    (unit,) = units(markdown('Text.\n\n{% include warning.html content="Mind the **gap**." %}\n'))[1:]
    assert ("Mind the gap." in unit.text, unit.warning) == (True, True)


@pytest.mark.parametrize("mark", ["2", "a", "*"])
@pytest.mark.parametrize("rise", [0, 3])
def test_a_mark_of_a_note_in_a_pdf_touches_no_word(mark: str, rise: int) -> None:
    """A figure, a letter, a sign, before the note raised or not; a power of a unit is none, even if it looks so."""

    def draw(canvas: object) -> None:
        pen = canvas.beginText(72, 600)  # type: ignore[attr-defined]  # a canvas of reportlab
        for letters, risen, size in (
            ("The house of 1905", 0, 11), (mark, 4, 7), (" had a floor of 95 m", 0, 11), ("2", 4, 7), (".", 0, 11),
        ):  # fmt: skip
            pen.setFont("Helvetica", size)
            pen.setRise(risen)
            pen.textOut(letters)
        pen.moveCursor(0, 300)
        for letters, risen, size in ((mark, rise, 8 - rise), (" So says the builder.", 0, 8)):
            pen.setFont("Helvetica", size)
            pen.setRise(risen)
            pen.textOut(letters)
        canvas.drawText(pen)  # type: ignore[attr-defined]  # a canvas of reportlab

    house, note = texts(parse_pdf(pdf(draw), "a.pdf"))
    assert house == "The house of 1905 had a floor of 95 m^2."
    assert note == f"{mark} So says the builder."


def test_sphinx_shows_on_a_page_what_is_not_for_paper_alone() -> None:
    """The caption of a figure is a caption, with or without a legend below it."""
    source = "T\n=\n\n.. only:: latex\n\n   No.\n\n.. only:: html\n\n   Yes.\n\n"
    source += ".. figure:: arm.png\n\n   The arm.\n\n   It is long.\n"
    found = [(unit.kind, unit.text) for unit in units(parse_rst(source.encode(), "a.rst"))]
    assert found == [("sentence", "Yes."), ("caption", "The arm."), ("sentence", "It is long.")]


def test_a_formula_that_was_saved_as_drawn_is_read() -> None:
    """Without the script that it was drawn from; what holds nothing of it is named in its place."""
    drawn = '<span class="MathJax" data-mathml="&lt;math&gt;&lt;mi&gt;a&lt;/mi&gt;&lt;/math&gt;">a</span>'
    assert texts(html(f"<p>The side {drawn} is long.</p>")) == ["The side $a$ is long."]
    assert texts(html('<p>The side <span class="MathJax">a</span> is long.</p>')) == [
        "The side [formula that cannot be read] is long."
    ]


def test_a_caption_in_parts_is_one_and_controls_are_no_text() -> None:
    """A number, and what the figure shows; boxes to type in and to choose from."""
    found = units(
        html("<figure><figcaption>Figure 3: <p>The arm.</p></figcaption></figure><select><option>No</select>")
    )
    assert [(unit.kind, unit.text) for unit in found] == [("caption", "Figure 3: The arm.")]


def test_terms_breaks_and_navigation_add_no_marks() -> None:
    """A colon of a term's own is enough; a break between blocks, or a way to the next page, is no text."""
    page = html(
        """<h1>Kilns</h1><div class="navheader"><table><tr><td>Prev</td><td>Next</td></tr></table></div>
        <br/><!--End of the panel--><div><br/><hr/><p>A kiln is hot.</p><br/></div><p>One<br/>two.</p><p><br/><hr/>
        <dl><dt>You can:</dt><dd>Fire clay.</dd><dt>Kiln</dt><dd>An oven.</dd>
        <dt>Is it safe?</dt><dd>With gloves.</dd></dl>
        <div class="toc"><ul><li><a href="#a">Kilns</a></li></ul></div>"""
    )
    assert texts(page) == [
        "A kiln is hot.",
        "One two.",
        "You can: Fire clay.",
        "Kiln: An oven.",
        "Is it safe? With gloves.",
    ]


def test_ligatures_are_letters_except_in_code() -> None:
    """As those of a PDF are."""
    page = html("<p>The \ufb01rst of\ufb01ce.</p><pre>print('\ufb01')</pre>")
    assert texts(page) == ["The first office.", "print('\ufb01')"]


def test_a_box_of_docbook_is_told_apart_from_its_frame() -> None:
    """Its icon is no picture of the book, and its head is its title."""
    page = html(
        """<h1>Kilns</h1><div class="warning"><table summary="Warning">
        <tr><td rowspan="2"><img alt="[Warning]" src="w.png"/></td><th>Warning</th></tr>
        <tr><td><p>A kiln burns.</p></td></tr></table></div>"""
    )
    assert [(unit.text, unit.warning) for unit in units(page) if unit.text != "Warning"] == [("A kiln burns.", True)]


def test_the_only_first_heading_of_a_page_is_its_title() -> None:
    """Texinfo writes the headings of its pages by their depth in the book."""
    page = parse_html(
        b"<head><title>Wax (Bees)</title></head><h3>2.1 Wax</h3><p>Wax.</p><h4>Colour</h4><p>It is gold.</p>", "a"
    )
    assert [section.title for section in page.sections] == ["2.1 Wax", "Colour"]
    page = parse_html(b"<head><title>Bees</title></head><h3>Wax</h3><p>Wax.</p><h3>Honey</h3><p>It is sweet.</p>", "a")
    assert [section.title for section in page.sections] == ["Bees", "Wax", "Honey"]


@READERS
def test_what_is_raised_within_what_is_raised_stays_apart(read: Callable[[str], Document]) -> None:
    """The same holds below the line."""
    page = "<p>It has 10<sup>2<sup>3</sup></sup> bytes, x<sub>a<sub>b</sub></sub> and y<sub>i</sub><sup>2</sup>.</p>"
    assert texts(read(page)) == ["It has 10^(2^3) bytes, x_(a_b) and y_i^2."]


@READERS
def test_the_brackets_around_a_reading_stand_once_and_quotation_marks_are_seen(read: Callable[[str], Document]) -> None:
    """Brackets for programs without ruby support are not shown by others, and `q` shows quotation marks."""
    page = "<p>In <ruby>東京<rp>(</rp><rt>Tokyo</rt><rp>)</rp></ruby> they say <q>go</q>.</p>"
    assert texts(read(page)) == ['In 東京 (Tokyo) they say "go".']
    if read is markdown:
        assert "<ruby>東京<rt>Tokyo</rt></ruby>" in page_html(f"# T\n\n{page}", "a.md").replace(" ", "")


@READERS
def test_several_meanings_and_several_terms_belong_together(read: Callable[[str], Document]) -> None:
    """Each meaning can be quoted alone, and each term of one thing is named."""
    entries = "<dt>Kiln</dt><dd>An oven.</dd><dd>For clay.</dd><dt>Sherd</dt><dt>Shard</dt><dd>A broken piece.</dd>"
    shown = ["Kiln: An oven.", "Kiln: For clay.", "Sherd, Shard: A broken piece."]
    assert [(unit.kind, unit.text) for unit in units(read(f"<dl>{entries}</dl>"))] == [("list_item", x) for x in shown]


def test_terms_of_pandoc_and_php_extra_are_items() -> None:
    """With a blank line before the meaning or without, and with more below it; a table's caption is none."""
    source = "Kiln\n: An oven.\n: For clay.\n\nSherd\nShard\n: A piece.\n\nGlaze\n\n:   A skin.\n\n    It is hard.\n"
    document = markdown(f"{source}\nThe loads are these.\n\n: Loads\n\n| Kind | Load |\n|---|---|\n| a | 1 |\n")
    assert [(unit.kind, unit.text) for unit in units(document)] == [
        ("list_item", "Kiln: An oven."),
        ("list_item", "Kiln: For clay."),
        ("list_item", "Sherd, Shard: A piece."),
        ("list_item", "Glaze: A skin."),
        ("sentence", "It is hard."),
        ("sentence", "The loads are these."),
        ("caption", "Loads"),
        ("table_row", "a | 1"),
    ]


def test_a_term_and_its_kind_stand_apart() -> None:
    """As docutils shows them."""
    document = parse_rst(b"Clay\n====\n\nShard : noun\n   A piece.\n", "a.rst")
    assert texts(document) == ["Shard : noun: A piece."]


def test_inserted_words_are_words_and_captions_of_knitr_are_captions() -> None:
    """The marks of PyMdown's caret are none, and code that is not shown has a caption all the same."""
    source = 'It is ^^new^^, 2^^3.\n\n```{r, echo=FALSE, fig.cap="Heat by hour."}\nplot(x)\n```\n'
    found = [(unit.kind, unit.text) for unit in units(markdown(source))]
    assert found == [("sentence", "It is new, 2^^3."), ("caption", "Heat by hour.")]


@READERS
def test_accents_are_one_sign_with_their_letter_and_signs_without_width_are_none(
    read: Callable[[str], Document],
) -> None:
    """As a reader types them; a hyphen that may be at the end of a line is not shown within one."""
    shown = texts(read("<p>The cafe\u0301 of co\u00adop\u200bera\u2060tion.</p>"))
    assert shown == ["The caf\u00e9 of cooperation."]
    (code,) = units(read("<pre>cafe\u0301 \u200bx</pre>"))
    assert code.text == "cafe\u0301 \u200bx"


def test_a_page_that_is_utf_8_and_does_not_say_so_is_read_as_such() -> None:
    """No guess is needed; one that declares another encoding, and has it, is read in that."""
    page = "<h1>T</h1><p>A \u201ckiln\u201d \u2011 10\u00a0km, na\u00efve.</p>"
    assert texts(parse_html(page.encode(), "a.html")) == ["A \u201ckiln\u201d \u2011 10 km, na\u00efve."]
    declared = f'<meta charset="windows-1252">{page}'.replace("\u2011", "-")
    assert texts(parse_html(declared.encode("cp1252"), "a.html")) == ["A \u201ckiln\u201d - 10 km, na\u00efve."]


def test_the_way_back_from_a_note_is_no_text() -> None:
    """With any arrow."""
    for arrow in ("\u21a9", "\u21a9\ufe0e", "\u21b5"):
        assert texts(html(f'<p>Clay.</p><ol><li>A note. <a href="a.html#r">{arrow}</a></li></ol>'))[1] == "1. A note."


def test_an_accent_that_is_painted_over_its_letter_is_on_it() -> None:
    """Though its sign is also a quotation mark elsewhere."""

    def draw(canvas: object) -> None:
        for x, letters in ((72, "Voil"), (91.3, "`"), (90, "a"), (96, ", he said `so'.")):
            canvas.setFont("Helvetica", 11)  # type: ignore[attr-defined]  # a canvas of reportlab
            canvas.drawString(x, 600, letters)  # type: ignore[attr-defined]  # a canvas of reportlab

    assert texts(parse_pdf(pdf(draw), "a.pdf")) == ["Voil\u00e0, he said `so'."]


@READERS
def test_a_fraction_is_one(read: Callable[[str], Document]) -> None:
    """Apart from the whole number before it; a charge is none."""
    page = "<p>Take 3<sup>1</sup>/<sub>2</sub> or <sup>3</sup>&frasl;<sub>4</sub> cups with Ca<sup>2+</sup>.</p>"
    assert texts(read(page.replace("&frasl;", "\u2044"))) == ["Take 3 1/2 or 3\u20444 cups with Ca^2+."]


@READERS
def test_blocks_on_one_line_are_blocks(read: Callable[[str], Document]) -> None:
    """As in a page that a program wrote without line breaks."""
    page = (
        "<h2>Clay</h2><p>It is <b>wet</b></p><details><summary>More</summary><p>It dries</p></details>"
        '<address>12 Kiln Road</address><ol start="3"><li><p>Fire</p></li><li>Cool</li></ol>'
    )
    document = read(page)
    assert document.sections[-1].title == "Clay"
    assert texts(document) == ["It is wet", "More", "It dries", "12 Kiln Road", "3. Fire", "4. Cool"]


@READERS
def test_what_is_for_other_programs_is_not_read(read: Callable[[str], Document]) -> None:
    """Templates, and fallbacks for scripts."""
    page = "<p>It is <template>No.</template>wet<noscript> No.</noscript>.</p>"
    assert texts(read(page)) == ["It is wet."]


def test_asides_glossaries_and_citations_of_sphinx_are_read() -> None:
    """A sidebar is none of a site, terms share a meaning, and a citation keeps its name."""
    source = (
        "Clay\n====\n\n.. sidebar:: Slip\n\n   Liquid clay.\n\n.. glossary::\n\n   sherd\n   shard\n     A piece.\n\n"
    )
    source += ".. math:: m = d v\n   :label: mass\n\n.. [KIL20] On kilns.\n\nAs [KIL20]_ says.\n"
    assert texts(parse_rst(source.encode(), "a.rst")) == [
        "Slip", "Liquid clay.", "sherd, shard: A piece.", "$$ m = d v $$", "[KIL20]", "On kilns.", "As [KIL20] says.",
    ]  # fmt: skip


def test_word_s_own_lists_of_contents_are_not_read() -> None:
    """Their lines only repeat headings."""
    styles = '<w:style w:type="paragraph" w:styleId="TOC1"><w:name w:val="toc 1"/></w:style>'
    word = docx(paragraph("T", "Title"), paragraph("Clay 3", "TOC1"), paragraph("It is wet."), more_styles=styles)
    assert texts(parse_docx(word, "a.docx")) == ["It is wet."]


def test_marks_of_python_markdown_are_no_text() -> None:
    """Places of contents, keys; a note goes on where it is indented, and what a short form means is read."""
    source = "[TOC]\n\nPress ++ctrl+c++ in C++, ++i and i++.[^1]\n\n*[HTML]: A language\n\n"
    source += "[^1]: A note.\n\n    It goes on.\n"
    assert texts(markdown(source)) == [
        "Press ctrl+c in C++, ++i and i++.", "HTML: A language", "A note.", "It goes on.",
    ]  # fmt: skip


STRUCK = ["<del>30</del>", "<s>30</s>", "<strike>30</strike>", '<span style="text-decoration: line-through">30</span>']


@READERS
def test_what_is_struck_out_is_shown_so_and_not_quoted(read: Callable[[str], Document]) -> None:
    """By an element, by a style; what is inserted in its place is read."""
    for struck in STRUCK:
        document = read(f"<p>It costs {struck} <ins>40</ins> coins.</p>")
        assert texts(document) == ["It costs 40 coins."]
        shown = page_html(document.source, document.filename)
        assert re.search(r"<(del|s|strike)>30</\1>", shown)


def test_what_markdown_and_word_strike_out_is_not_quoted() -> None:
    """Text that Word keeps as deleted is not quoted either."""
    assert texts(markdown("It costs ~~30~~ 40 ~old~ coins, about ~5 of them.")) == [
        "It costs 40 coins, about ~5 of them."
    ]
    run = '<w:r><w:rPr>{}</w:rPr><w:t xml:space="preserve">{}</w:t></w:r>'
    deleted = "<w:del w:id='1'><w:r><w:delText>20</w:delText></w:r></w:del>"
    price = (
        f"<w:p>{run.format('', 'It costs ')}{deleted}{run.format('<w:strike/>', '30')}{run.format('', ' 40.')}</w:p>"
    )
    assert texts(parse_docx(docx(paragraph("T", "Title"), price), "a.docx")) == ["It costs 40."]
