"""reStructuredText, as docutils and Sphinx show it."""

import pytest

from lutrin.ingest.sandbox import read_in_sandbox
from lutrin.records import Document, Unit
from lutrin_formats.rst import parse_rst

HEAD = "Kilns\n=====\n\n"


def read(body: str) -> Document:
    """A page."""
    return parse_rst(f"{HEAD}{body}\n".encode(), "a.rst")


def units(body: str) -> list[Unit]:
    """The units that can be quoted."""
    return [unit for section in read(body).sections for unit in section.units]


PAGES = [
    ("It holds 10\\ :sup:`9` grains.", ["It holds 10^9 grains."]),
    ("Water is H\\ :sub:`2`\\ O.", ["Water is H2O."]),
    ("In 1905 [#n]_ it burned.\n\n.. [#n] In May.", ["In 1905 it burned.", "In May."]),
    ("It is :math:`a^2`.", ["It is $a^2$."]),
    (".. math::\n   :label: eq\n\n   F = m a", ["$$ F = m a $$"]),
    ("3. third\n4. fourth", ["3. third", "4. fourth"]),
    ("c. letter\nd. next", ["c. letter", "d. next"]),
    (".. note about nothing\n\nText.", ["Text."]),
    (".. |deg| unicode:: U+00B0\n\n1240 |deg|.", ["1240 \u00b0."]),
    ("Call :func:`kiln.heat` of :py:class:`~kiln.core.Oven`.", ["Call kiln.heat() of Oven."]),
    ("See :doc:`the guide </guide/a>` and :doc:`/guide/first-steps`.", ["See the guide and first steps."]),
    ("See :ref:`lid`.\n\n.. _lid:\n\nThe lid\n-------\n\nIt is hot.", ["See The lid.", "It is hot."]),
    (".. versionadded:: 3.2\n   The ramp.", ["New in version 3.2: The ramp."]),
    (".. tab:: Linux\n\n   Run it.", ["Linux", "Run it."]),
    (".. made-up:: Hello\n   :some-option: 3\n\n   Its text.", ["Hello", "Its text."]),
    ("Text with ``code``.", ["Text with code."]),
    (".. toctree::\n   :maxdepth: 2\n\n   a\n   b\n\nText.", ["Text."]),
    ("Table 4:\n\n====  =====\nA     B\n====  =====\n1     2\n====  =====", ["Table 4:", "1 | 2"]),
]


def test_a_page_is_read_as_it_is_shown() -> None:
    """Signs, notes, formulas, numbers, roles, directives known and unknown."""
    for body, shown in PAGES:
        assert [unit.text for unit in units(body)] == shown


def test_fields_before_the_title_are_settings() -> None:
    """No text."""
    document = parse_rst(b":orphan:\n:tocdepth: 2\n\nKilns\n=====\n\nText.\n", "a.rst")
    assert (document.title, [unit.text for unit in document.sections[0].units]) == ("Kilns", ["Text."])


@pytest.mark.parametrize("name", ["code-block", "sourcecode", "code"])
def test_code_stays_as_it_is(name: str) -> None:
    """With its language and caption, and with any options."""
    body = f".. {name}:: python\n   :linenos:\n   :caption: ramp.py\n\n   def ramp():\n       return '<b>\\n'"
    caption, code = units(body)
    assert caption.text == "ramp.py"
    assert (code.language, code.text) == ("python", "def ramp():\n    return '<b>\\n'")


@pytest.mark.parametrize(
    ("box", "warning"), [("warning", True), ("danger", True), ("caution", True), ("note", False), ("seealso", False)]
)
def test_boxes_keep_their_nature(box: str, warning: bool) -> None:
    """The boxes of docutils and of Sphinx."""
    (text,) = [unit for unit in units(f".. {box}::\n\n   Mind the lid.") if unit.text == "Mind the lid."]
    assert text.warning == warning
    assert [unit.text for unit in units(f".. {box}:: Mind the lid.")][-1] == "Mind the lid."


def test_a_table_of_lists_and_one_that_is_drawn_are_grids() -> None:
    """A cell that spans rows is in each of them."""
    body = (
        ".. list-table:: Table 4. Loads\n   :header-rows: 1\n\n   * - Body\n     - Cone\n   * - Clay\n     - 6\n\n"
        "+------+------+\n| Body | Cone |\n+======+======+\n"
        "| Clay | 6    |\n|      +------+\n|      | 7    |\n+------+------+"
    )
    assert [(unit.lead, unit.text) for unit in units(body) if unit.kind == "table_row"] == [
        ("Body | Cone", "Clay | 6"),
        ("Body | Cone", "Clay | 6"),
        ("Body | Cone", "Clay | 7"),
    ]


def test_nothing_is_read_from_other_files() -> None:
    """Missing files and markup that docutils does not understand are notices with their line."""
    document = read(
        ".. include:: /etc/hostname\n\n.. literalinclude:: ramp.py\n\n.. raw:: html\n\n   <b>no</b>\n\n"
        ".. csv-table::\n   :file: /etc/hostname\n\nText |unknown|."
    )
    assert [unit.text for section in document.sections for unit in section.units] == ["Text unknown."]
    assert [notice.line for notice in document.notices] == [4, 6, 12, 15]


def test_a_page_is_read_in_a_process_of_its_own() -> None:
    """Like every format that a library reads."""
    assert read_in_sandbox(f"{HEAD}Text.".encode(), "a.rst").title == "Kilns"
