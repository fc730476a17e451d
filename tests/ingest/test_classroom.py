"""Files of classrooms: slides, OpenDocument texts and slides, transcripts; nothing that a pupil would see is lost."""

import zipfile
from io import BytesIO

import odfdo
import pytest
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from lutrin.errors import DocumentError
from lutrin.ingest.formats import all_formats
from lutrin.ingest.page import page_html
from lutrin.ingest.sandbox import read_in_sandbox
from lutrin.records import Document, Section

VTT = """WEBVTT - A lesson

NOTE not for reading

STYLE
::cue { color: red }

1
00:00:01.000 --> 00:00:04.000 align:start
<v Ms Brown>Photosynthesis needs <b>light</b>

00:00:04.000 --> 00:00:08.500
and carbon dioxide &amp; water.

00:01:10.000 --> 00:01:14.000
<v Tom>Why are leaves green?

00:01:15.000 --> 00:01:20.000
<v Ms Brown>Because of chlorophyll.
"""
SRT = """\ufeff1\r
00:59:58,000 --> 01:00:02,000\r
{\\an8}A lens bends light.\r
\r
2\r
01:00:02,100 --> 01:00:05,000\r
A lens bends light.\r
The focus lies behind it.\r
"""


def deck() -> bytes:
    """A presentation with all that slides hold."""
    made = Presentation()
    made.core_properties.title = "Plants at work"
    first = made.slides.add_slide(made.slide_layouts[0])
    first.shapes.title.text = "Plants at work"
    first.placeholders[1].text = "Class 7b"
    points = made.slides.add_slide(made.slide_layouts[1])
    points.shapes.title.text = "Photosynthesis"
    frame = points.placeholders[1].text_frame
    frame.text = "Takes in carbon dioxide"
    for level, text in ((1, "through the stomata"), (0, "Gives out oxygen")):
        paragraph = frame.add_paragraph()
        paragraph.level, paragraph.text = level, text
    points.notes_slide.notes_text_frame.text = "Show the pondweed in the jar."
    table = made.slides.add_slide(made.slide_layouts[5])
    table.shapes.title.text = "Leaves"
    cells = table.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    for place, text in enumerate(("Plant", "Leaf", "Fern", "Frond")):
        cells.cell(place // 2, place % 2).text = text
    right = table.shapes.add_textbox(Inches(5), Inches(4), Inches(2), Inches(1))
    right.text_frame.text = "stands right"
    left = table.shapes.add_textbox(Inches(1), Inches(4.1), Inches(2), Inches(1))
    left.text_frame.text = "stands left"
    group = table.shapes.add_group_shape()
    group.shapes.add_textbox(Inches(1), Inches(5), Inches(1), Inches(1)).text_frame.text = "inside a group"
    chart = made.slides.add_slide(made.slide_layouts[6])
    data = CategoryChartData()  # type: ignore[no-untyped-call]  # its package has no annotations
    data.categories = ["May", "June"]
    data.add_series("Growth in cm", (3, 4.5))  # type: ignore[no-untyped-call]  # its package has no annotations
    chart.shapes.add_chart(XL_CHART_TYPE.BAR_CLUSTERED, Inches(1), Inches(1), Inches(4), Inches(3), data)
    secret = made.slides.add_slide(made.slide_layouts[5])
    secret.shapes.title.text = "For me alone"
    secret.element.set("show", "0")
    out = BytesIO()
    made.save(out)
    return out.getvalue()


def saved(document: odfdo.Document) -> bytes:
    """An OpenDocument file."""
    out = BytesIO()
    document.save(out)
    return out.getvalue()


def text_document() -> bytes:
    """A text with headings, lists, a table, a note and a link."""
    made = odfdo.Document("text")
    made.meta.title = "Soil"
    body = made.body
    body.clear()
    body.append(odfdo.Header(1, "What soil is made of"))
    paragraph = odfdo.Paragraph("Humus is dark and sticky.")
    paragraph.insert_note(after="Humus", note_id="n1", citation="1", body="From the Latin word for earth.")
    body.append(paragraph)
    listed = odfdo.List(["Sand", "Silt"])
    body.append(listed)
    body.append(odfdo.Header(2, "How wet"))
    table = odfdo.Table("t")
    for values in (["Soil", "Water"], ["Clay", "much"]):
        row = odfdo.Row()
        row.set_values(values)
        table.append(row)
    body.append(table)
    body.append(odfdo.Paragraph("Dig < 20 cm & look."))
    return saved(made)


def presentation() -> bytes:
    """Slides of LibreOffice, the second one with notes."""
    made = odfdo.Document("presentation")
    body = made.body
    body.clear()
    for title, text in (("Tides", "The moon pulls the sea."), ("Winds", "Air moves from high to low pressure.")):
        page = odfdo.DrawPage(title, name=title)
        head = odfdo.Frame.text_frame(title, presentation_class="title", size=("20cm", "3cm"), position=("1cm", "1cm"))
        page.append(head)
        page.append(odfdo.Frame.text_frame(text, size=("20cm", "3cm"), position=("1cm", "5cm")))
        body.append(page)
    return saved(made)


def words(section: Section) -> str:
    """All that is in a section."""
    return "\n".join(unit.text for unit in section.units)


def by_title(document: Document) -> dict[str, str]:
    """The text of each section."""
    return {section.title: words(section) for section in document.sections if section.units}


def test_slides_become_sections_in_their_order() -> None:
    """Titles, points with their depths, notes, a table, a chart, shapes from left to right; hidden slides are named."""
    document = read_in_sandbox(deck(), "lesson.pptx")
    titles = [section.title for section in document.sections]
    assert document.title == "Plants at work"
    assert titles[-4:] == ["Photosynthesis", "Notes", "Leaves", "Slide 4"]
    texts = by_title(document)
    assert texts["Photosynthesis"].split("\n") == [
        "Takes in carbon dioxide",
        "through the stomata",
        "Gives out oxygen",
    ]
    assert texts["Notes"] == "Show the pondweed in the jar."
    assert "Fern | Frond" in texts["Leaves"]
    assert texts["Leaves"].index("stands left") < texts["Leaves"].index("stands right")
    assert "inside a group" in texts["Leaves"]
    assert "May | 3" in texts["Slide 4"]
    assert "Class 7b" in document.source
    assert "For me alone" not in document.source
    assert [notice.message for notice in document.notices] == ["hidden in the presentation, so not read: slide 5"]
    pages = {section.title: section.page for section in document.sections}
    assert (pages["Photosynthesis"], pages["Notes"], pages["Slide 4"]) == (2, 2, 4)
    assert "pondweed" in page_html(document.source, "lesson.pptx")


def test_a_text_of_libreoffice_is_read_whole() -> None:
    """Headings, items, a table, a note below its paragraph, and signs that HTML would take for its own."""
    document = read_in_sandbox(text_document(), "soil.odt")
    texts = by_title(document)
    assert document.title == "Soil"
    assert "Humus is dark and sticky." in texts["What soil is made of"]
    assert "From the Latin word for earth." in texts["What soil is made of"]
    assert "Sand" in texts["What soil is made of"]
    assert "Clay | much" in texts["How wet"]
    assert "Dig < 20 cm & look." in texts["How wet"]


def test_slides_of_libreoffice_are_read() -> None:
    """Each a section below its title, with the number of its slide."""
    document = read_in_sandbox(presentation(), "sea.odp")
    assert [(section.title, section.page) for section in document.sections if section.units] == [
        ("Tides", 1),
        ("Winds", 2),
    ]
    assert by_title(document)["Winds"] == "Air moves from high to low pressure."


def test_a_transcript_has_its_time_as_its_place() -> None:
    """Sections of about a minute, sentences whole, speakers named, marks and styles gone."""
    document = read_in_sandbox(VTT.encode(), "03-light-lesson.vtt")
    assert by_title(document) == {
        "0:01–0:08": "Ms Brown: Photosynthesis needs light and carbon dioxide & water.",
        "1:10–1:20": "Tom: Why are leaves green?\nMs Brown: Because of chlorophyll.",
    }


def test_subtitles_that_repeat_themselves_are_said_once() -> None:
    """As live captions do; hours are told where there are any."""
    document = read_in_sandbox(SRT.encode(), "lens.srt")
    assert by_title(document) == {"59:58–1:00:05": "A lens bends light.\nThe focus lies behind it."}


def broken_zip() -> bytes:
    """An archive that is none of the documents."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("content.xml", "<a")
    return out.getvalue()


def bomb() -> bytes:
    """A megabyte that unpacks to more than a hundred."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("content.xml", b" " * (101 * 1024 * 1024))
    return out.getvalue()


@pytest.mark.parametrize("suffix", [".pptx", ".odt", ".odp", ".vtt", ".srt"])
@pytest.mark.parametrize("data", [b"", b"nonsense", deck()[:4000], broken_zip(), bomb()])
def test_what_is_broken_costs_one_plain_line(suffix: str, data: bytes) -> None:
    """No name of a class, no crash, and what to do."""
    with pytest.raises(DocumentError) as caught:
        read_in_sandbox(data, f"file{suffix}")
    assert "Error" not in caught.value.detail
    assert "BadZip" not in caught.value.detail
    assert "crashed" not in caught.value.detail


def test_several_such_files_are_several_books() -> None:
    """As the form on the teacher's page proposes; pages in Markdown are one."""
    alone = {suffix for suffix, kind in all_formats().items() if kind.stands_alone}
    assert alone == {".pdf", ".epub", ".docx", ".odt", ".pptx", ".odp", ".vtt", ".srt", ".txt"}
