"""Formulas in MathML or Word's OMML as TeX.

MathML 3 and OMML (ECMA-376, part 1, chapter 22.1) give their elements different names, so one table reads both.
"""

import re
from collections.abc import Callable
from typing import Any

import bs4

UNREAD = "[formula that cannot be read]"
"""Placeholder for a formula that survives only as a picture."""
_ACCENTS = {
    "\u0302": "hat", "^": "hat", "\u02c6": "hat", "\u0303": "tilde", "~": "tilde", "\u02dc": "tilde",
    "\u0304": "bar", "\u0305": "bar", "\u00af": "bar", "_": "bar", "\u203e": "bar", "\u2015": "bar",
    "\u20d7": "vec", "\u2192": "vec", "\u0307": "dot", "\u02d9": "dot", "\u0308": "ddot", "\u00a8": "ddot",
}  # fmt: skip
_FUNCTIONS = frozenset(
    "arccos arcsin arctan cos cosh cot det dim exp gcd inf ker lg lim ln log max min mod sin sinh sup tan tanh".split()
)
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2061\u2062\u2063\u2064\u200b", ""),
        "\u2212": "-",
        "\u2032": "'",
        "\u00a0": " ",
        **{sign: f"\\{sign}" for sign in "{}%#$&_"},
        "\\": r"\backslash ",
        "~": r"\sim ",
    }
)
_COMMAND = re.compile(r"\\[A-Za-z]+\Z")
_FORMS = {
    **dict.fromkeys(("annotation", "annotation-xml", "mphantom", "mprescripts", "none"), ""),
    "mspace": " ",
    "semantics": "<0>",
    "mfrac": r"\frac{<0>}{<1>}",
    "f": r"\frac{<num>}{<den>}",
    "mroot": r"\sqrt<[1]>{<0>}",
    "rad": r"\sqrt<[deg]>{<e>}",
    "bar": r"\bar{<e>}",
}
"""TeX for an element: `<0>` is its first child element, `<e>` the child of that name, `<[1]>` an option."""
_PLACE = re.compile(r"<(\[?)(\w+)\]?>")
_SCRIPTS = {
    "msup": ("0", "", "1"),
    "msub": ("0", "1", ""),
    "msubsup": ("0", "1", "2"),
    "munder": ("0", "1", ""),
    "munderover": ("0", "1", "2"),
    "ssup": ("e", "", "sup"),
    "ssub": ("e", "sub", ""),
    "ssubsup": ("e", "sub", "sup"),
    "limlow": ("e", "lim", ""),
    "limupp": ("e", "", "lim"),
}
"""Names of the parts of an element: its base, and what is below and above it."""


def tex_of_markup(markup: str) -> str:
    """TeX of a formula in MathML, or the placeholder if it is unreadable."""
    return tex_of(bs4.BeautifulSoup(markup, "html.parser")).strip() or UNREAD


def known_tex(math: Any) -> str:  # noqa: ANN401 - as bs4 has it
    """The original TeX of a formula, if it is included; otherwise TeX from its elements."""
    for note in math.find_all(lambda tag: local(tag) == "annotation"):
        if "tex" in str(note.get("encoding") or "").lower() and note.get_text().strip():
            return str(note.get_text())
    return str(math.get("alttext") or "") or tex_of(math)


def tex_of(node: Any) -> str:  # noqa: ANN401 - as bs4 has it
    """TeX of an element of MathML or OMML, from a parser that lowers names."""
    name = local(node)
    if name in _FORMS:
        return _PLACE.sub(lambda place: _option(_part(node, place[2]), place[1]), _FORMS[name])
    if name in _SCRIPTS:
        return _scripts(*(_part(node, part) for part in _SCRIPTS[name]))
    return _MAKERS.get(name, _row)(node)


def local(tag: Any) -> str:  # noqa: ANN401 - as bs4 has it
    """An element's name without its namespace prefix."""
    return str(tag.name).rpartition(":")[2].lower()


def _tags(node: Any) -> list[Any]:  # noqa: ANN401 - as bs4 has it
    return [child for child in node.children if isinstance(child, bs4.Tag) and not local(child).endswith("pr")]


def _row(node: Any) -> str:  # noqa: ANN401 - as bs4 has it
    tags = _tags(node)
    text = "" if tags else str(node.get_text()).translate(_PLAIN)
    for part in map(tex_of, tags):
        text += f" {part}" if part[:1].isalpha() and _COMMAND.search(text) else part
    return text


def _part(node: Any, name: str) -> str:  # noqa: ANN401 - as bs4 has it
    """TeX of an element's child, by number or name; empty if it is missing."""
    tags = [tag for number, tag in enumerate(_tags(node)) if name in {str(number), local(tag)}]
    return tex_of(tags[0]) if tags else ""


def _option(tex: str, bracket: str) -> str:
    return f"[{tex}]" if tex and bracket else tex


def _base(tex: str) -> str:
    return tex if len(tex) < 2 or _COMMAND.fullmatch(tex) else f"{{{tex}}}"


def _scripts(base: str, below: str, above: str) -> str:
    return _base(base) + (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")


def _operator(node: Any) -> str:  # noqa: ANN401 - as bs4 has it
    word = node.get_text().strip()
    if word in _FUNCTIONS:
        return f"\\{word}"
    return _row(node) if _tags(node) else str(word.translate(_PLAIN))


def _word(node: Any) -> str:  # noqa: ANN401 - as bs4 has it
    text = " ".join(node.get_text().split())
    return f"\\mathrm{{{text}}}" if len(text) > 1 and text.isalpha() and text not in _FUNCTIONS else _operator(node)


def _text_of(node: Any) -> str:  # noqa: ANN401 - as bs4 has it
    text = node.get_text().translate(_PLAIN)
    return f"\\text{{{text}}}" if text.strip() else " " if text else ""


def _sign(node: Any, name: str, default: str) -> str:  # noqa: ANN401 - as bs4 has it
    """A sign that OMML stores in a property: an operator, an accent, a bracket."""
    sign = node.find(lambda tag: local(tag) == name and local(tag.parent).endswith("pr") and tag.parent.parent is node)
    return next((str(value) for key, value in sign.attrs.items() if key.endswith("val")), default) if sign else default


def _over(node: Any) -> str:  # noqa: ANN401 - as bs4 has it
    tags = _tags(node)
    accent = _ACCENTS.get(tags[1].get_text().strip()) if len(tags) > 1 else None
    return f"\\{accent}{{{_part(node, '0')}}}" if accent else _scripts(_part(node, "0"), "", _part(node, "1"))


def _nary(node: Any) -> str:  # noqa: ANN401 - as bs4 has it
    operator = _sign(node, "chr", "\u222b")
    return f"{_scripts(operator, _part(node, 'sub'), _part(node, 'sup'))}{_base(_part(node, 'e'))}"


def _brackets(node: Any) -> str:  # noqa: ANN401 - as bs4 has it
    opening, closing = _sign(node, "begchr", "("), _sign(node, "endchr", ")")
    return _fence(node, opening, _sign(node, "sepchr", "|"), closing)


def _fence(node: Any, opening: str, between: str, closing: str) -> str:  # noqa: ANN401 - as bs4 has it
    return f"{opening.translate(_PLAIN)}{between.join(map(tex_of, _tags(node)))}{closing.translate(_PLAIN)}"


def _matrix(node: Any) -> str:  # noqa: ANN401 - as bs4 has it
    """A matrix; a row of `eqArr` has one cell, the row itself."""
    rows = [[row] if local(node) == "eqarr" else _tags(row) for row in _tags(node)]
    inside = " \\\\ ".join(" & ".join(map(tex_of, row)) for row in rows)
    return f"\\begin{{matrix}}{inside}\\end{{matrix}}"


def _multiscripts(node: Any) -> str:  # noqa: ANN401 - as bs4 has it
    """Scripts on both sides of a base, as for an isotope."""
    base, *rest = _tags(node)
    names = [local(tag) for tag in rest]
    at = names.index("mprescripts") if "mprescripts" in names else len(rest)
    below, above, *_ = [*map(tex_of, rest[:at]), "", ""]
    low, high, *_ = [*map(tex_of, rest[at + 1 :]), "", ""]
    front = _scripts("{}", low, high) if low or high else ""
    return f"{front}{_scripts(tex_of(base), below, above)}"


_MAKERS: dict[str, Callable[[Any], str]] = {
    "mi": _word,
    "mo": _operator,
    "fname": _operator,
    "mtext": _text_of,
    "ms": _text_of,
    "msqrt": lambda node: f"\\sqrt{{{_row(node)}}}",
    "mover": _over,
    "acc": lambda node: f"\\{_ACCENTS.get(_sign(node, 'chr', '^'), 'hat')}{{{_part(node, 'e')}}}",
    "mmultiscripts": _multiscripts,
    "spre": lambda node: f"{_scripts('{}', _part(node, 'sub'), _part(node, 'sup'))}{_part(node, 'e')}",
    "nary": _nary,
    "d": _brackets,
    "mfenced": lambda node: _fence(
        node, str(node.get("open", "(")), str(node.get("separators") or ",")[:1], str(node.get("close", ")"))
    ),
    "mtable": _matrix,
    "m": _matrix,
    "eqarr": _matrix,
}
