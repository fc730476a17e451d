"""Pages of real books read beside their source: nothing lost, nothing doubled, nothing out of order, no markup left."""

import pytest

from lutrin.ingest.markdown import parse_markdown
from lutrin.ingest.page import page_html
from lutrin.records import Unit


def units(source: str, name: str = "arm.md") -> list[Unit]:
    """The units of a page."""
    return [unit for section in parse_markdown(source, name).sections for unit in section.units]


def test_a_list_right_behind_its_sentence_stays_behind_it() -> None:
    """Although another list of the same kind is before the sentence."""
    source = "# Arm\n\n1. Lift.\n2. Lower.\n\nTwo kinds:\n1. Long ones\n2. Short ones\n"
    assert [unit.text for unit in units(source)] == [
        "1. Lift.",
        "2. Lower.",
        "Two kinds:",
        "1. Long ones",
        "2. Short ones",
    ]
    page = page_html(source, "arm.md")
    assert page.index("Lower.") < page.index("Two kinds:") < page.index("Long ones")


@pytest.mark.parametrize("name", ["keys.md", "keys.mdx"])
def test_a_row_of_an_html_table_on_one_line_is_a_row(name: str) -> None:
    """With its cells apart, in the reader's page and where it is quoted."""
    source = (
        "# Keys\n\n<table>\n\n<tr><th colspan='2'><b>MOVING</b></th></tr>\n\n"
        "<tr><td>Close</td><td>hold <kbd>Ctrl</kbd> and *q*</td></tr>\n\n</table>\n\nThat is all.\n"
    )
    assert [(unit.kind, unit.text) for unit in units(source, name)] == [
        ("table_row", "MOVING"),
        ("table_row", "Close | hold Ctrl and q"),
        ("sentence", "That is all."),
    ]
    page = page_html(source, name)
    assert '<th colspan="2"><b>MOVING</b></th>' in page
    assert "<td>Close</td>\n<td>hold <kbd>Ctrl</kbd> and <em>q</em></td>" in page


def test_a_cell_that_goes_on_in_the_next_line_swallows_nothing() -> None:
    """Text after such a table stays outside it."""
    source = "# Keys\n\n<tr><td>Close</td><td>hold\nCtrl</td></tr>\n\nThat is all.\n"
    assert page_html(source, "keys.md").endswith("<p>That is all.</p>\n")


@pytest.mark.parametrize(
    "directive",
    [
        "```{figure} img/arm.gif\n:alt: Two joints\n:scale: 30 %\nThe arm lifts.\n```",
        ":::{figure} img/arm.gif\n:alt: Two joints\nThe arm lifts.\n:::",
    ],
)
def test_a_figure_shows_its_picture(directive: str) -> None:
    """With its description and, below, its caption."""
    page = page_html(f"# Arm\n\n{directive}\n", "arm.md")
    assert '<figure><img src="img/arm.gif" alt="Two joints"><figcaption>\n<p>The arm lifts.</p>' in page
    assert [unit.text for unit in units(f"# Arm\n\n{directive}\n")] == ["Two joints", "The arm lifts."]


def test_an_image_directive_shows_its_picture() -> None:
    """Its address is no text, its description is."""
    source = "# Arm\n\n```{image} img/arm.png\n:alt: Two joints\n```\n"
    assert '<img src="img/arm.png" alt="Two joints">' in page_html(source, "arm.md")
    assert [unit.text for unit in units(source)] == ["Two joints"]


def test_targets_of_old_links_do_not_hide_a_title() -> None:
    """The page is called by its first heading, not by its file."""
    source = '<!-- Old headings. -->\n\n<a id="old"></a>\n\n## The `lift` call\n\nIt lifts.\n'
    assert parse_markdown(source, "ch06-02-lift.md").title == "The lift call"
    assert page_html(source, "ch06-02-lift.md").count("<h") == 1


@pytest.mark.parametrize(
    "pictures",
    [
        '<img class="block dark:hidden" src="a.png" alt="An arm."/>\n<img class="hidden dark:block" alt="An arm."/>\n',
        'Look: <img src="a.png" alt="An arm."> <img class="only-dark" src="b.png" alt="An arm.">',
        "![An arm.](a.png#only-light) ![An arm.](b.png#only-dark)",
    ],
)
@pytest.mark.parametrize("name", ["arm.md", "arm.mdx"])
def test_a_picture_for_dark_schemes_does_not_double_its_twin(pictures: str, name: str) -> None:
    """Neither in the page nor in what is quoted."""
    source = f"# Arm\n\n{pictures}\n"
    assert page_html(source, name).count("An arm.") == 1
    assert " ".join(unit.text for unit in units(source, name)).count("An arm.") == 1


def test_a_description_may_hold_the_other_kind_of_quotes() -> None:
    """As those of paths in a picture of folders."""
    source = '# Arm\n\n![](a.svg){alt=\'The folder "/arm" and what is in it\'}\n\n![](b.svg){alt="It\'s an arm"}\n'
    assert [unit.text for unit in units(source)] == ['The folder "/arm" and what is in it', "It's an arm"]


def test_choices_of_a_quiz_are_shown_without_the_names_of_their_fields() -> None:
    """Which one is right is told; entities and marks are read; their role stays that of a quiz."""
    source = (
        "# End-of-chapter quiz\n\n### What lifts?\n\n<Question\n\tchoices={[\n"
        '\t\t{\n\t\t\ttext: "The `arm` &#60;left>.",\n\t\t\texplain: "Yes, see [arms](arm.md).",\n'
        "\t\t\tcorrect: true\n\t\t},\n"
        '\t\t{\n\t\t\ttext: "The base.",\n\t\t\texplain: "It only turns."\n\t\t}\n\t]}\n/>\n'
    )
    assert [(unit.text, unit.role) for unit in units(source, "quiz.mdx")] == [
        ("The arm <left>. — Yes, see arms. — correct", "quiz"),
        ("The base. — It only turns.", "quiz"),
    ]
    page = page_html(source, "quiz.mdx")
    assert 'The <code>arm</code> &lt;left&gt;. — Yes, see <a href="arm.md">arms</a>. — correct</p>' in page


def test_notebooks_of_a_banner_are_links() -> None:
    """They lead where they should, and no answer quotes them."""
    source = (
        '# Arm\n\n<Banner notebooks={[\n{label: "Colab", value: "https://colab.example/arm"},\n]} />\n\nIt lifts.\n'
    )
    assert '<p class="label"><a href="https://colab.example/arm">Colab</a></p>' in page_html(source, "arm.mdx")
    assert [(unit.text, unit.role) for unit in units(source, "arm.mdx")] == [
        ("Colab", "references"),
        ("It lifts.", "text"),
    ]


def test_branches_of_a_page_are_tabs() -> None:
    """So that they are not read as one text."""
    source = "# Arm\n\n{#if fw === 'pt'}\n\nUse torch.\n\n{:else}\n\nUse keras.\n\n{/if}\n\nIt lifts.\n"
    page = page_html(source, "arm.mdx")
    assert page.count('<section class="tabs">') == 1
    assert '<section class="tab">\n<p class="label">pt</p>\n<p>Use torch.</p>\n</section>' in page
    assert page.index("Use keras.") < page.index("</section>\n</section>\n<p>It lifts.</p>")


def test_a_listing_has_its_number_its_file_and_its_caption() -> None:
    """For the text speaks of it by its number."""
    source = (
        '# Arm\n\n<Listing number="6-3" file-name="src/arm.rs" caption="An `Arm` type">\n\n'
        "```rust\nstruct Arm;\n```\n\n</Listing>\n"
    )
    page = page_html(source, "arm.md")
    assert '<p class="label">Listing 6-3: An <code>Arm</code> type</p>\n<p class="code-title">src/arm.rs</p>' in page


def test_a_footnote_has_a_mark_in_the_text_and_before_the_note() -> None:
    """Numbered in the order of the page."""
    page = page_html("# Arm\n\nIt lifts[^load] and turns[^2].\n\n[^load]: Up to 5 kg.\n\n[^2]: By 90°.\n", "arm.md")
    assert '<sup><a href="#note-1">1</a></sup> and turns<sup><a href="#note-2">2</a></sup>.</p>' in page
    assert '<p><sup id="note-1">1</sup> Up to 5 kg.</p>\n<p><sup id="note-2">2</sup> By 90°.</p>' in page


def test_boxes_of_a_lesson_say_what_they_are() -> None:
    """By their own heading or their kind; what is for the instructor is folded away."""
    source = (
        "# Arm\n\n::: objectives\n\n- Lift it.\n\n:::\n\n::: callout\n\n## Mind\n\nIt moves.\n\n:::\n\n"
        "::: instructor\n\nShow it twice.\n\n:::\n"
    )
    page = page_html(source, "arm.md")
    assert '<aside class="admonition note">\n<p class="admonition-title">Objectives</p>\n<ul>\n<li>Lift it.' in page
    assert '<p class="admonition-title">Mind</p>\n<p>It moves.</p>' in page
    assert "<details><summary>For the instructor</summary>\n<p>Show it twice.</p>" in page


def test_a_box_of_html_is_what_its_class_says() -> None:
    """A warning in a `div` is one in the page and before what it governs."""
    source = '# Arm\n\n<div class="warning">\nThe arm moves.\n</div>\n\nIt lifts.\n'
    assert '<aside class="admonition warning">' in page_html(source, "arm.md")
    assert [(unit.text, unit.warning) for unit in units(source)] == [("The arm moves.", True), ("It lifts.", False)]


def test_items_inside_a_cell_stand_apart() -> None:
    """One below the other, as in the built page."""
    page = page_html("# Arm\n\n| | Arm |\n|-|-|\n| Pros | <ul><li>strong</li><li>fast</li></ul> |\n", "arm.md")
    assert "<br>• strong" in page
    assert "<br>• fast" in page


def test_code_of_another_file_leaves_its_address_in_the_page() -> None:
    """So that a reader knows what "the code below" was; no answer quotes it."""
    source = "# Arm\n\nIt lifts:\n\n```rust\n{{#rustdoc_include ../listings/arm.rs:here}}\n```\n"
    assert "This code stands in another file: <code>../listings/arm.rs:here</code>" in page_html(source, "arm.md")
    assert [unit.text for unit in units(source)] == ["It lifts:"]


def test_formulas_between_the_brackets_of_tex_keep_their_braces() -> None:
    """While brackets that are escaped stay brackets."""
    source = "# Arm\n\nThe sum \\( \\sum_{i=1}^{m} x_i \\) and \\(not a formula\\).\n"
    assert '<span class="math">$\\sum_{i=1}^{m} x_i$</span> and (not a formula).' in page_html(source, "arm.md")
    assert [unit.text for unit in units(source)] == ["The sum $\\sum_{i=1}^{m} x_i$ and (not a formula)."]


def test_what_is_struck_out_is_shown_so() -> None:
    """With one tilde, too, but not where a tilde says "about" or "home"."""
    for source, shown in (
        ("~March 7th~ ~the *exam*~ is over", "<del>March 7th</del> <del>the <em>exam</em></del> is over"),
        ("~5 kg to ~10 kg in ~/arm", "~5 kg to ~10 kg in ~/arm"),
        ("a~b c~d", "a~b c~d"),
        ("H~2~O and 10^9^", "H<sub>2</sub>O and 10<sup>9</sup>"),
    ):
        assert f"<p>{shown}</p>" in page_html(f"# Arm\n\n{source}\n", "arm.md")
