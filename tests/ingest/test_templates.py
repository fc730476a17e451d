"""Marks of site generators and note programs: the words in them stay, the marks show nowhere, no offset moves."""

from lutrin.ingest.markdown import parse_markdown
from lutrin.ingest.masks import mask
from lutrin.ingest.page import page_html
from lutrin.records import Unit


def units(source: str) -> list[Unit]:
    """The units of a page."""
    return [unit for section in parse_markdown(f"# Arm\n\n{source}\n", "arm.md").sections for unit in section.units]


MARKS = ("{{", "}}", "{%", "%}", ":::", "%%", "[[", "]]", "==", "+++", "\u2060")


def test_the_words_stay_and_the_marks_go() -> None:
    """In the text that is searched and on the page."""
    for source, text in (
        ('The {{< term text="gripper" id="g" >}} holds.', "The gripper holds."),
        ('The {{domxref("Arm.lift", "lift()")}}, a method, lifts.', "The lift(), a method, lifts."),
        ('{{HTMLElement("kbd")}} starts it.', "kbd starts it."),
        ("It lifts {{ site.load }} kg.", "It lifts […] kg."),
        ('{{< param "load" >}} kg at most.', "[…] kg at most."),
        ("It {{< br >}}turns.", "It turns."),
        ("See [[Joints]] and [[Joints#Wrist|the wrist]], or [[Joints#Elbow]].", "See Joints and the wrist, or Elbow."),
        ("A ==stiff== arm is %% heavy %% slow. ^fact-1", "A stiff arm is slow."),
        ("{% if arm %}It moves.{% endif %}", "It moves."),
        ("- %% later %% Lift.", "Lift."),
        ("> {{< x >}} Lower.", "Lower."),
    ):
        assert [unit.text for unit in units(source)] == [text]
        page = page_html(f"# Arm\n\n{source}\n", "arm.md")
        assert not any(mark in page for mark in MARKS)


def test_what_only_looks_like_a_mark_stays() -> None:
    """In code and in running text."""
    for source in (
        "`{{ value }}` and `[[1, 2]]` stay, and so does `a == b`.",
        "a == b, and b == c.",
        "[[1]](notes.md) is a link.",
        "Costs 5% or 10%% more.",
        "x^2 and y^3",
    ):
        whole = f"# Arm\n\n{source}\n\n```jinja\n{{{{ value }}}} [[link]] %%x%%\n```\n"
        assert mask(whole, 0, {}, lambda _offset, _problem: None) == whole


def test_a_warning_of_every_maker_is_one() -> None:
    """And is shown as one."""
    for box in (
        "{{< warning >}}\nIt moves.\n{{< /warning >}}",
        '{{% alert title="Mind" color="danger" %}}\nIt moves.\n{{% /alert %}}',
        '{{< callout type="warning" >}}\nIt moves.\n{{< /callout >}}',
        '{% hint style="danger" %}\nIt moves.\n{% endhint %}',
        "> [!WARNING]\n> It moves.",
        "> [!danger]- Mind\n> It moves.",
        "> **Warning:** It moves.",
        ":::caution\nIt moves.\n:::",
        "!!! danger\n    It moves.",
        "```{warning}\nIt moves.\n```",
        "::: {.callout-caution}\nIt moves.\n:::",
        '<div class="alert alert-danger">\n\nIt moves.\n\n</div>',
    ):
        found = units(f"{box}\n\nIt rests.")
        assert [unit.text.removeprefix("Warning: ") for unit in found if unit.warning and unit.kind == "sentence"] == [
            "It moves."
        ]
        assert not found[-1].warning
        page = page_html(f"# Arm\n\n{box}\n", "arm.md")
        assert '<aside class="admonition' in page
        assert not any(mark in page for mark in MARKS)


def test_code_of_a_shortcode_is_code() -> None:
    """The shortcodes of Hugo and of Jekyll."""
    for source in (
        "{{< highlight go >}}\nlift()\n{{< /highlight >}}",
        "{% highlight go %}\nlift()\n{% endhighlight %}",
    ):
        assert [(unit.kind, unit.text, unit.language) for unit in units(source)] == [("code", "lift()", "go")]


def test_tabs_of_gitbook_are_variants() -> None:
    """Each with the name of its own."""
    tabs = "\n".join(
        f'{{% tab title="{name}" %}}\nUse {port}.\n{{% endtab %}}' for name, port in (("Left", "A"), ("Right", "B"))
    )
    found = units(f"{{% tabs %}}\n{tabs}\n{{% endtabs %}}")
    assert [(unit.text, unit.variant) for unit in found if unit.kind == "sentence"] == [
        ("Use A.", "Left"),
        ("Use B.", "Right"),
    ]


def test_front_matter_of_hugo_and_of_pandoc_gives_the_title() -> None:
    """And is no text."""
    braces = '{\n  "title": "Arms",\n  "params": {"weight": 2}\n}\n\nIt lifts.\n'
    for source in (braces, '+++\ntitle = "Arms"\nweight = 2\n+++\n\nIt lifts.\n', "% Arms\n% A. Smith\n\nIt lifts.\n"):
        document = parse_markdown(source, "arm.md")
        assert document.title == "Arms"
        assert [unit.text for unit in document.sections[0].units] == ["It lifts."]


def test_tables_drawn_with_lines_are_rows() -> None:
    """Grid, simple, multiline, and one without heads."""
    for table, rows, lead in (
        (
            (
                "+------+-------+\n| Part | Load  |\n+======+=======+\n"
                "| Hip  | 9 kg, |\n|      | cold  |\n+------+-------+\n"
                "| Knee | 5 kg  |\n+------+-------+"
            ),
            ["Hip | 9 kg, cold", "Knee | 5 kg"],
            "Part | Load",
        ),
        ("Part    Load\n----  ------\nHip     9 kg\nKnee    5 kg", ["Hip | 9 kg", "Knee | 5 kg"], "Part | Load"),
        (
            (
                "---------------\nPart  Load\n      (most)\n----  ---------"
                "\nHip   9 kg if\n      cold\n\nKnee  5 kg\n---------------"
            ),
            ["Hip | 9 kg if cold", "Knee | 5 kg"],
            "Part | Load (most)",
        ),
        ("----  ----\nHip   9 kg\nKnee  5 kg\n----  ----", ["Hip | 9 kg", "Knee | 5 kg"], ""),
    ):
        found = units(f"{table}\n\nThat is all.")
        assert [(unit.text, unit.lead) for unit in found[:-1]] == [(row, lead) for row in rows]
        assert found[-1].text == "That is all."


def test_a_value_that_is_not_known_is_reported() -> None:
    """With its line; LaTeX that is left out, too."""
    source = "# Arm\n\nIt lifts {{ load }} kg.\n\n\\begin{tabular}{l}\nPeat\n\\end{tabular}\n"
    assert [(notice.line, notice.message) for notice in parse_markdown(source, "arm.md").notices] == [
        (3, "the value of {{ load }} is not known; […] stands in its place"),
        (5, "a tabular of LaTeX is left out"),
    ]
