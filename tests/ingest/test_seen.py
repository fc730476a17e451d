"""Visible text is read, in HTML, EPUB, Word documents and Markdown with HTML alike."""

from collections.abc import Callable

from tests.ingest.made import CONTAINER, READERS, book, docx, html, markdown, paragraph, texts, units, zipped

from lutrin.ingest.epub import parse_epub
from lutrin.ingest.hypertext import parse_html
from lutrin.ingest.page import page_html
from lutrin.records import Document
from lutrin_formats.docx import parse_docx

SHIFTED = [
    ("5 &times; 10<sup>12</sup> m", "5 × 10^12 m"),
    ("Avogadro: 6.02 · 10<sup>23</sup>", "Avogadro: 6.02 · 10^23"),
    ("a <b>charge</b> of Fe<sup>3+</sup>", "a charge of Fe^3+"),
    ("2<sup>n + 1</sup> nodes", "2^(n + 1) nodes"),
    ("C<sub>6</sub>H<sub>12</sub>O<sub>6</sub>", "C6H12O6"),
    ("1011<sub>2</sub> is eleven", "1011_2 is eleven"),
    ("v<sub>max</sub> is 3 m/s", "v_max is 3 m/s"),
    ("the 22<sup>nd</sup> of May, Lutrin<sup>TM</sup>", "the 22nd of May, LutrinTM"),
]


@READERS
def test_raised_and_lowered_signs_touch_no_number(read: Callable[[str], Document]) -> None:
    """In the text; the page shows them raised and lowered."""
    for markup, text in SHIFTED:
        document = read(f"<p>{markup}</p>" if read is not markdown else markup)
        assert texts(document) == [text]
        shown = page_html(document.source, document.filename)
        assert all(tag in shown for tag in ("<sup>", "<sub>") if tag in markup)


NOTE_MARKS = [
    ('<sup><a href="#fn7" id="r7">7</a></sup>', '<p id="fn7"><a href="#r7">7</a> By hand.</p>'),
    ('<a href="#note-a" class="noteref">*</a>', '<div id="note-a"><p>* By hand.</p></div>'),
]


@READERS
def test_a_note_mark_touches_no_word(read: Callable[[str], Document]) -> None:
    """Its note stands apart."""
    pages = [f"<p>The wheel was turned in 1874{mark}.</p>{note}" for mark, note in NOTE_MARKS]
    for page in ["The wheel was turned in 1874[^7].\n\n[^7]: By hand."] if read is markdown else pages:
        document = read(page)
        assert texts(document) == ["The wheel was turned in 1874.", "By hand."]
        assert '<a href="#note-1">1</a>' in page_html(document.source, document.filename)


def test_marks_of_printed_pages_are_no_text() -> None:
    """In an EPUB and in a scanned classic."""
    body = (
        '<p>The mill <span epub:type="pagebreak" id="p12">12</sp'
        'an>turns <span class="pagenum">[Pg 13]</span>slowly.</p>'
    )
    assert texts(book(body)) == texts(html(body)) == ["The mill turns slowly."]


def test_a_note_of_pandoc_stands_below_its_sentence() -> None:
    """And is no part of it."""
    assert texts(markdown("Peat burns.^[If it is [dry](a.md).] Clay does not.")) == [
        "Peat burns.",
        "Clay does not.",
        "If it is dry.",
    ]


MATHML = (
    "<math><mi>F</mi><mo>=</mo><mfrac><mrow><mi>m</mi><msup><mi>v</mi><mn>2</mn></msup></mrow><mi>r</mi></mfrac></math>"
)


def test_a_formula_of_any_carrier_is_tex_once() -> None:
    """In its place in the sentence."""
    for formula in (
        MATHML,
        MATHML.replace("<", "<m:").replace("<m:/", "</m:"),
        '<math alttext="{\\displaystyle F=\\frac{mv^{2}}{r}}"><mi>F</mi></math>',
        (
            "<math><semantics><mi>F</mi><annotation encoding='applicatio"
            "n/x-tex'>F=\\frac{mv^{2}}{r}</annotation></semantics></math>"
        ),
        (
            '<span class="katex"><span class="katex-mathml"><math><sem'
            'antics><mi>F</mi><annotation encoding="application/x-tex">'
            "F=\\frac{mv^{2}}{r}</annotation></semantics></math></span>"
            '<span class="katex-html" aria-hidden="true">F</span></span>'
        ),
        (
            '<span class="MathJax_Preview">F</span><span class="MathJax">F</span>'
            '<script type="math/tex">F=\\frac{mv^{2}}{r}</script>'
        ),
        f"<mjx-container><mjx-math>F</mjx-math><mjx-assistive-mml>{MATHML}</mjx-assistive-mml></mjx-container>",
        '<img class="latex" src="f.png" alt="F=\\frac{mv^{2}}{r}">',
        "\\(F=\\frac{mv^{2}}{r}\\)",
    ):
        for read in (html, book):
            assert texts(read(f"<p>The force is {formula} here.</p>")) == ["The force is $F=\\frac{mv^{2}}{r}$ here."]


def test_a_formula_that_cannot_be_read_is_named_in_its_place() -> None:
    """And in the report."""
    document = html('<p>The force is <img class="tex" src="f.png"> here.</p>')
    assert texts(document) == ["The force is [formula that cannot be read] here."]
    assert "1 formula cannot be read" in document.notices[0].message


def test_tex_of_the_elements_of_mathml() -> None:
    """Roots, limits, matrices, accents, isotopes."""
    body = (
        "<math><msqrt><mi>x</mi></msqrt></math> <math><mroot><mi>x</mi><mn>3</mn></mroot></math> "
        "<math><munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover><mi>i</mi></math> "
        "<math><mover><mi>v</mi><mo>→</mo></mover></math> "
        "<math><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr></mtable></math> "
        "<math><mmultiscripts><mi>U</mi><mprescripts/><mn>92</mn><mn>238</mn></mmultiscripts></math> "
        "<math><mi>sin</mi><mi>x</mi></math> <math><mn>5</mn><mtext> per cent</mtext></math>"
    )
    assert texts(html(f"<p>{body}</p>")) == [
        (
            "$\\sqrt{x}$ $\\sqrt[3]{x}$ $∑_{i}^{n}i$ $\\vec{v}$ $\\begin{matrix}1 & 2\\end{matrix}$ ${{}}_{92}^{238}U$ "
            "$\\sin x$ $5\\text{ per cent}$"
        )
    ]


SPANNED = (
    "<table><tr><th rowspan='2'>Wood</th><th colspan='2'>Load</th></tr><tr><th>dry</th><th>wet</th></tr>"
    "<tr><td rowspan='2'>Oak</td><td>9</td><td>7</td></tr><tr><td colspan='2'>unknown</td></tr></table>"
)


@READERS
def test_a_table_is_a_grid_before_it_is_rows(read: Callable[[str], Document]) -> None:
    """Cells that span are in every place that they cover, rows of heads are one."""
    rows = units(read(SPANNED))
    assert [row.text for row in rows] == ["Oak | 9 | 7", "Oak | unknown | unknown"]
    assert {row.lead for row in rows} == {"Wood | Load dry | Load wet"}


@READERS
def test_a_table_with_heads_at_the_left_only_has_no_head_row(read: Callable[[str], Document]) -> None:
    """And no row is lost."""
    rows = units(read("<table><tr><th>Tin</th><td>232</td></tr><tr><th>Lead</th><td>327</td></tr></table>"))
    assert [(row.text, row.lead) for row in rows] == [("Tin | 232", ""), ("Lead | 327", "")]


def test_numbers_of_lists_are_those_that_a_browser_shows() -> None:
    """Start, value, letters, counting down; the page counts so, too."""
    body = (
        "<ol start=3><li>c</li><li value=7>g</li></ol><ol type=A start=27><li>x</li></ol><ol reversed><li>b<li>a</ol>"
    )
    document = html(body)
    assert texts(document) == ["3. c", "7. g", "AA. x", "2. b", "1. a"]
    assert '<ol start="3">\n<li>c</li>\n<li value="7">g</li>' in page_html(document.source, "a.html")


def test_numbers_of_markdown_count_from_the_first() -> None:
    """The numbers that the author wrote before later items do not count."""
    assert texts(markdown("4. Cut.\n4. Sand.\n1. Oil.")) == ["4. Cut.", "5. Sand.", "6. Oil."]


def test_what_no_reader_sees_is_not_read() -> None:
    """In HTML and EPUB; text that a reader can unfold is read."""
    for hidden in (
        "<p hidden>No.</p>",
        "<p style='color: red; display:none'>No.</p>",
        "<style>@media print { p { color: red } } .key, b { display: none }</style><p class='key'>No.</p>",
        "<template><p>No.</p></template>",
        "<p><span class='sr-only'>No.</span></p>",
        "<!-- No. -->",
    ):
        body = f"{hidden}<p>Yes.</p><div role='tabpanel' hidden><p>Opened.</p></div>"
        assert texts(html(body)) == texts(book(body)) == ["Yes.", "Opened."]


def test_white_on_white_is_not_read() -> None:
    """In HTML, EPUB and HTML within Markdown; white text on a possibly coloured ground is read."""
    white = "<p style='color: #FFFFFF; background-color: white'>No.</p>"
    for read in (html, book, markdown):
        assert texts(read(f"{white}<p>Yes.</p>")) == ["Yes."]
    for hidden in (
        "<p style='color:white'>No.</p>",
        "<p><span style='color: rgb(255, 255, 255)'>No.</span></p>",
        "<style>.key { color: #fff }</style><p class='key'>No.</p>",
    ):
        assert texts(html(f"{hidden}<p>Yes.</p>")) == ["Yes."]
    for shown in (
        "<div style='background: #333'><p style='color: white'>Seen.</p></div>",
        "<table><tr bgcolor='navy'><td>a</td></tr></table><p style='color: white'>Seen.</p>",
        "<style>.dark { background: black }</style><p class='dark' style='color: white'>Seen.</p>",
        "<link rel='stylesheet' href='a.css'><p style='color: white'>Seen.</p>",
    ):
        assert "Seen." in texts(html(shown))


def test_a_warning_of_every_maker_is_one() -> None:
    """Its title is no heading."""
    for classes in (
        "admonition danger",
        "alert alert-danger",
        ("callout callout-warning"),
        "notecard warning",
        "custom-block danger",
        "markdown-alert markdown-alert-caution",
        "theme-admonition theme-admonition-danger alert",
        "rmdwarning",
        "starlight-aside starlight-aside--caution",
        "aui-message aui-message-warning",
        "warning",
    ):
        for read in (html, book):
            found = units(read(f"<div class='{classes}'><h3 class='title'>Mind</h3><p>It is hot.</p></div>"))
            assert [(unit.text, unit.warning) for unit in found] == [("Mind", True), ("It is hot.", True)]


def test_a_colour_makes_no_warning() -> None:
    """The colour of a button, a word or a table."""
    for classes in ("btn btn-danger", "badge badge-warning", "table table-danger", "text-danger"):
        assert not any(unit.warning for unit in units(html(f"<div class='{classes}'>Open the vent.</div>")))


def test_code_is_its_own_characters() -> None:
    """The markup of a highlighter is not part of it."""
    for code in (
        "<pre>a = 1<br>b = 2</pre>",
        "<pre><span class='line'>a = 1</span><span class='line'>b = 2</span></pre>",
        "<pre class='prettyprint'><ol class='linenums'><li>a = 1</li><li>b = 2</li></ol></pre>",
        (
            "<table class='rouge-table'><tr><td class='rouge-gutter gl'"
            "><pre>1\n2\n</pre></td><td class='rouge-code'><pre>a = 1\n"
            "b = 2\n</pre></td></tr></table>"
        ),
        (
            "<table class='lntable'><tr><td><pre><span class='lnt'>1\n</span><span class='lnt'>2\n</span></pre></td>"
            "<td><pre>a = 1\nb = 2</pre></td></tr></table>"
        ),
        (
            "<table><tr><td class='blob-num'>1</td><td class='blob-code'>a = 1</td></tr>"
            "<tr><td class='blob-num'>2</td><td class='blob-code'>b = 2</td></tr></table>"
        ),
        "<pre><span class='linenos'>1</span>a = 1\n<span class='linenos'>2</span>b = 2</pre>",
    ):
        assert [(unit.kind, unit.text) for unit in units(html(code))] == [("code", "a = 1\nb = 2")]


def test_code_with_a_fence_in_it_stays_whole() -> None:
    """The fence around it is longer."""
    assert texts(html("<pre>```sh\nls\n```</pre>")) == ["```sh\nls\n```"]


def test_a_header_with_a_title_is_no_header_of_a_site() -> None:
    """But one above another title is; links to edit a section are no words of its heading."""
    page = (
        "<html><body><header><h1>My site</h1></header><main><head"
        "er><h1>Kilns <a href='#k'>¶</a></h1></header><p>Hot.</p>"
    )
    document = parse_html(
        f"{page}<h2>Vents<span class='mw-editsection'>[edit]</span></h2><p>Open.</p></main>".encode(), "a.html"
    )
    assert [section.heading_path for section in document.sections] == [("Kilns",), ("Kilns", "Vents")]


NAV = (
    "<html xmlns:epub='http://www.idpf.org/2007/ops'><body><nav e"
    "pub:type='landmarks'><ol><li><a href='A.xhtml'>Start</a></li>"
    "</ol></nav><nav epub:type='toc'><ol><li><a href='A.xhtml#"
    "one'>Hills</a></li><li><a href='A.xhtml#two'>Lakes</a><ol>"
    "<li><a href='A.xhtml#sub'>Shores</a></li></ol></li></ol></nav></body></html>"
)


def test_an_epub_with_prefixes_and_odd_case_has_the_chapters_of_its_contents() -> None:
    """Chapters in one file, found by the fragments of the navigation."""
    package = (
        "<opf:package xmlns:opf='http://www.idpf.org/2007/opf'><"
        "opf:metadata xmlns:dc='d'><dc:title>land.indd</dc:title>"
        "</opf:metadata><opf:manifest><opf:item id='n' href='nav.xh"
        "tml' properties='nav' media-type='application/xhtml+xml'/>"
        "<opf:item id='a' href='A.xhtml' media-type='application/xht"
        "ml+xml'/></opf:manifest><opf:spine><opf:itemref idref='a'/>"
        "</opf:spine></opf:package>"
    )
    body = (
        "<html><body><p id='one'>Hills</p><p>Green.</p><div id='t"
        "wo'><p>Blue.</p></div><p id='sub'>Shores</p><p>Sandy.</p>"
        "</body></html>"
    )
    files = {
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": package,
        "OEBPS/nav.xhtml": NAV,
        "OEBPS/a.xhtml": body,
    }
    document = parse_epub(zipped(files), "land.epub")
    assert [section.heading_path[1:] for section in document.sections if section.units] == [
        ("Hills",),
        ("Lakes",),
        ("Lakes", "Shores"),
    ]
    assert document.title == "Land"


WORD = "xmlns:m='http://schemas.openxmlformats.org/officeDocument/2006/math'"


def test_word_formulas_are_tex() -> None:
    """In a sentence and alone."""
    body = (
        f"<w:p {WORD}><w:r><w:t>The area is </w:t></w:r><m:oMath><m:"
        f"r><m:t>A=π</m:t></m:r><m:sSup><m:e><m:r><m:t>r</m:t></m:r>"
        "</m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath><w:r><w:t>.</w:t></w:r></w:p>"
        f"<w:p {WORD}><m:oMathPara><m:oMath><m:nary><m:naryPr><m:"
        f"chr m:val='∑'/></m:naryPr><m:sub><m:r><m:t>i</m:t></m:r>"
        "</m:sub><m:sup><m:r><m:t>n</m:t></m:r></m:sup><m:e><m:r><m:"
        "t>i</m:t></m:r></m:e></m:nary></m:oMath></m:oMathPara></w:p>"
    )
    assert texts(parse_docx(docx(paragraph("Page", "heading1"), body), "a.docx")) == [
        "The area is $A=πr^{2}$.",
        "$$ ∑_{i}^{n}i $$",
    ]


def test_word_hides_what_is_marked_as_hidden() -> None:
    """And shows what says that it is not."""
    body = (
        "<w:p><w:r><w:t>The key is </w:t></w:r><w:r><w:rPr><w:vanish/></w:rPr><w:t>blue </w:t></w:r>"
        "<w:r><w:rPr><w:vanish w:val='0'/></w:rPr><w:t>here.</w:t></w:r></w:p>"
    )
    assert texts(parse_docx(docx(body), "a.docx")) == ["The key is here."]


def test_word_shows_white_words_on_another_ground_alone() -> None:
    """On a white page they are invisible; shading, a table or a box may be behind them."""

    def said(colour: str, more: str = "") -> str:
        return f"<w:r><w:rPr><w:color {colour}/>{more}</w:rPr><w:t>No. </w:t></w:r><w:r><w:t>Yes.</w:t></w:r>"

    white = "w:val='FFFFFF'"
    for hidden in (white, "w:val='auto' w:themeColor='background1'"):
        assert texts(parse_docx(docx(f"<w:p>{said(hidden)}</w:p>"), "a.docx")) == ["Yes."]
    shade = "<w:shd w:val='clear' w:fill='333333'/>"
    for shown in (
        f"<w:p>{said(white, shade)}</w:p>",
        f"<w:p><w:pPr>{shade}</w:pPr>{said(white)}</w:p>",
        f"<w:tbl><w:tr><w:tc><w:p>{said(white)}</w:p></w:tc></w:tr></w:tbl>",
    ):
        assert "No." in " ".join(texts(parse_docx(docx(shown), "a.docx")))
