"""Formulas as TeX, from whatever carries them: MathML, Word's OMML, the output of KaTeX and MathJax, pictures with TeX.

MathML 3 and OMML (ECMA-376, part 1, chapter 22.1) give their elements different names, so one table reads both.
"""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import bs4
from bs4.element import NavigableString

from lutrin.ingest.html_find import Finder

UNREAD = "[formula that cannot be read]"
"""Stands where a formula stands of which nothing but a picture is left."""
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
_WRAPPED = re.compile(r"\s*(?:\{\s*)?\\(?:displaystyle|textstyle)\b\s*(.*?)\s*\Z", re.DOTALL)
_DELIMITED = re.compile(
    r"\\\((?P<inline>.+?)\\\)|\\\[(?P<display>.+?)\\\]|\$\$(?P<dollars>.+?)\$\$"
    r"|\\begin\{(?P<name>(?:equation|align|gather|multline|eqnarray)\*?)\}(?P<body>.+?)\\end\{(?P=name)\}",
    re.DOTALL,
)
_SINGLE = re.compile(r"\$(?P<inline>[^\s$](?:[^$\n]*[^\s$\\])?)\$(?!\d)")
_VERBATIM = frozenset({"pre", "code", "tex", "script", "style", "textarea", "kbd", "samp"})
_PREVIEWS = (
    ".MathJax_Preview",
    ".MathJax:not(mjx-container)",
    ".MathJax_Display",
    ".MathJax_SVG",
    ".MathJax_SVG_Display",
    ".MathJax_CHTML",
)
_PICTURES = (
    "img.tex", "img.latex", "img.math", "img.texrender", "img.Wirisformula", "img.mwe-math-fallback-image-inline",
)  # fmt: skip
_RENDERER = re.compile(
    r"(?:codecogs\.com/(?:[\w.]+/)?(?:latex|gif|png|svg)(?:\.latex|\.\w+)?|latex\.php|math\.(?:vercel|now)\S*|chart)"
    r"\?(?:\w+=\w+&(?:amp;)?)*(?:latex=|chl=|from=|tex=)?([^&]+)"
)
"""Services that draw TeX, which stands in the picture's address."""
_CARRIERS = (".katex", ".mwe-math-element", "mjx-container", "math")


def tex_of_markup(markup: str) -> str:
    """TeX of a formula in MathML, or what stands in its place if it cannot be read."""
    return tex_of(bs4.BeautifulSoup(markup, "html.parser")).strip() or UNREAD


def tex_of(node: Any) -> str:  # noqa: ANN401 - as bs4 has it
    """TeX of an element of MathML or OMML, as a parser that lowers names has read it."""
    name = _local(node)
    maker = _MAKERS.get(name)
    return maker(node) if maker is not None else _row(node)


def mark_formulas(soup: Any, find: Finder) -> int:  # noqa: ANN401 - as bs4 has it
    """Put an element `tex` in the place of each formula of a page, and return how many cannot be read.

    An element `tex` has its TeX in `data-tex`; with `display` it is a block.
    """
    loads = find.has("script", "link") and soup.find(_loads_renderer) is not None
    has_maths = loads or find.named("math") or find.has(*_CARRIERS)
    unread = 0
    for whole in find.all([".katex-display", ".katex"]):
        if not whole.decomposed:
            math = whole.find(_is_math)
            unread += _replace(whole, _known_tex(math) if math else "", display="katex-display" in whole["class"])
    scripts = soup.find_all("script", type=re.compile(r"^math/")) if find.has("script") else []
    for script in scripts:
        kind = str(script["type"])
        tex = script.get_text() if kind.startswith("math/tex") else _tex_in(script.get_text())
        unread += _replace(script, tex, display="display" in kind)
    for preview in find.all(_PREVIEWS):
        if preview.decomposed:
            continue
        if not scripts and "MathJax_Preview" not in preview["class"]:
            # What a program saved without the scripts that it was drawn from.
            math = preview.find(_is_math)
            drawn = preview if preview.has_attr("data-mathml") else preview.find(attrs={"data-mathml": True})
            tex = (_known_tex(math) if math else "") or (_tex_in(str(drawn["data-mathml"])) if drawn else "")
            display = any("Display" in name for name in preview["class"])
            preview.insert_before(tag_of(tex, display=display))
            unread += not tex
        preview.decompose()
    for whole in find.all(["mjx-container", ".mwe-math-element"]):
        math, picture = whole.find(_is_math), whole.find("img")
        tex = (_known_tex(math) if math else "") or str((picture.get("alt") if picture else "") or "")
        display = whole.get("display") == "true" or whole.select_one(".mwe-math-mathml-display") is not None
        unread += _replace(whole, tex or str(whole.get("data-latex") or ""), display=display)
    for math in soup.find_all(_is_math) if find.named("math") else ():
        unread += _replace(math, _known_tex(math), display=math.get("display") == "block")
    for picture in soup.find_all("img", src=_RENDERER) if find.has("img") else ():
        query = _RENDERER.search(str(picture["src"]))
        unread += _replace(picture, unquote(query[1]) if query else "", display=False)
    for picture in find.all(_PICTURES):
        tex = _tex_in(str(picture.get("data-mathml") or "")) or str(picture.get("alt") or "")
        unread += _replace(picture, tex, display=False)
    if has_maths or any(mark in soup.get_text() for mark in ("\\(", "\\[", "$$", "\\begin{")):
        _mark_delimited(soup, _SINGLE if has_maths else None)
    return unread


def _replace(element: Any, tex: str, *, display: bool) -> int:  # noqa: ANN401 - as bs4 has it
    tex = " ".join(_unwrap(tex).split())
    if not tex:
        element.replace_with(UNREAD)
        return 1
    element.replace_with(tag_of(tex, display=display))
    return 0


def tag_of(tex: str, *, display: bool) -> Any:  # noqa: ANN401 - as bs4 has it
    """The element that stands for a formula; the notice if there is no TeX."""
    if not tex.strip():
        return NavigableString(UNREAD)
    return bs4.Tag(name="tex", attrs={"data-tex": tex, **({"display": "block"} if display else {})})


def _unwrap(tex: str) -> str:
    """TeX without its delimiters and the style that Wikipedia puts around it."""
    tex = tex.strip()
    for start, end in (("\\(", "\\)"), ("\\[", "\\]"), ("$$", "$$"), ("$", "$")):
        if tex.startswith(start) and tex.endswith(end) and len(tex) > len(start) + len(end):
            tex = tex[len(start) : -len(end)].strip()
            break
    match = _WRAPPED.match(tex)
    if match is None:
        return tex
    return match[1].removesuffix("}") if tex.startswith("{") else match[1]


def _mark_delimited(soup: Any, single: re.Pattern[str] | None) -> None:  # noqa: ANN401 - as bs4 has it
    """Find formulas between the delimiters that MathJax and KaTeX look for in a page's text."""
    for pattern in (_DELIMITED, *((single,) if single else ())):
        for text in list(soup.find_all(string=pattern)):
            if any(parent.name in _VERBATIM for parent in text.parents):
                continue
            parts: list[Any] = []
            done = 0
            for match in pattern.finditer(text):
                groups = match.groupdict()
                tex = next(groups[name] for name in ("inline", "display", "dollars", "body") if groups.get(name))
                parts += [text[done : match.start()], tag_of(" ".join(tex.split()), display=not groups.get("inline"))]
                done = match.end()
            parts.append(text[done:])
            text.replace_with(*[NavigableString(part) if isinstance(part, str) else part for part in parts if part])


def _loads_renderer(tag: Any) -> bool:  # noqa: ANN401 - as bs4 has it
    address = f"{tag.get('src') or ''} {tag.get('href') or ''}".lower() if tag.name in {"script", "link"} else ""
    return "mathjax" in address or "katex" in address


def _known_tex(math: Any) -> str:  # noqa: ANN401 - as bs4 has it
    """The TeX that a formula was made from, where it says so; otherwise what its elements mean."""
    for note in math.find_all(lambda tag: _local(tag) == "annotation"):
        if "tex" in str(note.get("encoding") or "").lower() and note.get_text().strip():
            return str(note.get_text())
    return str(math.get("alttext") or "") or tex_of(math)


def _tex_in(markup: str) -> str:
    math = bs4.BeautifulSoup(markup.replace("«", "<").replace("»", ">").replace("¨", '"'), "html.parser").find(_is_math)
    return _known_tex(math) if math else ""


def _is_math(tag: Any) -> bool:  # noqa: ANN401 - as bs4 has it
    return _local(tag) == "math"


def _local(tag: Any) -> str:  # noqa: ANN401 - as bs4 has it
    return str(tag.name).rpartition(":")[2].lower()


# Elements -----------------------------------------------------------------------------------------------------------


def _tags(node: Any) -> list[Any]:  # noqa: ANN401 - as bs4 has it
    return [child for child in node.children if isinstance(child, bs4.Tag) and not _local(child).endswith("pr")]


def _join(parts: list[str]) -> str:
    text = ""
    for part in parts:
        apart = _COMMAND.search(text) is not None and part[:1].isalpha()
        text += f" {part}" if apart else part
    return text


def _row(node: Any) -> str:  # noqa: ANN401 - as bs4 has it
    tags = _tags(node)
    return _join([tex_of(tag) for tag in tags]) if tags else str(node.get_text()).translate(_PLAIN)


def _part(node: Any, name: str) -> str:  # noqa: ANN401 - as bs4 has it
    found = next((child for child in _tags(node) if _local(child) == name), None)
    return tex_of(found) if found is not None else ""


def _nth(node: Any, number: int) -> str:  # noqa: ANN401 - as bs4 has it
    tags = _tags(node)
    return tex_of(tags[number]) if number < len(tags) else ""


def _base(tex: str) -> str:
    return tex if len(tex) < 2 or _COMMAND.fullmatch(tex) else f"{{{tex}}}"


def _scripts(base: str, below: str, above: str) -> str:
    return _base(base) + (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")


def _word(node: Any) -> str:  # noqa: ANN401 - as bs4 has it
    text = " ".join(node.get_text().split())
    if text in _FUNCTIONS:
        return f"\\{text}"
    plain = text.translate(_PLAIN)
    return f"\\mathrm{{{plain}}}" if len(text) > 1 and text.isalpha() else plain


def _text_of(node: Any) -> str:  # noqa: ANN401 - as bs4 has it
    text = node.get_text().translate(_PLAIN)
    return f"\\text{{{text}}}" if text.strip() else " " if text else ""


def _sign(node: Any, holder: str, name: str, default: str) -> str:  # noqa: ANN401 - as bs4 has it
    """A sign that OMML keeps in a property: an operator, an accent, a bracket."""
    properties = next((c for c in node.children if isinstance(c, bs4.Tag) and _local(c) == holder), None)
    found: Any = next((c for c in properties.children if _local(c) == name), None) if properties is not None else None
    if found is None:
        return default
    return str(next((value for key, value in found.attrs.items() if key.rpartition(":")[2] == "val"), default))


def _over(node: Any) -> str:  # noqa: ANN401 - as bs4 has it
    above = _tags(node)[1].get_text().strip() if len(_tags(node)) > 1 else ""
    accent = _ACCENTS.get(above)
    return f"\\{accent}{{{_nth(node, 0)}}}" if accent else _scripts(_nth(node, 0), "", _nth(node, 1))


def _accent(node: Any, holder: str) -> str:  # noqa: ANN401 - as bs4 has it
    accent = _ACCENTS.get(_sign(node, holder, "chr", "\u0302" if holder == "accpr" else "\u00af"), "hat")
    return f"\\{accent}{{{_part(node, 'e')}}}"


def _nary(node: Any) -> str:  # noqa: ANN401 - as bs4 has it
    operator = _sign(node, "narypr", "chr", "\u222b")
    return f"{_scripts(operator, _part(node, 'sub'), _part(node, 'sup'))}{_base(_part(node, 'e'))}"


def _brackets(node: Any) -> str:  # noqa: ANN401 - as bs4 has it
    opening, closing = _sign(node, "dpr", "begchr", "("), _sign(node, "dpr", "endchr", ")")
    inside = _sign(node, "dpr", "sepchr", "|").join(tex_of(tag) for tag in _tags(node))
    return f"{opening.translate(_PLAIN)}{inside}{closing.translate(_PLAIN)}"


def _fences(node: Any) -> str:  # noqa: ANN401 - as bs4 has it
    inside = str(node.get("separators") or ",")[:1].join(tex_of(tag) for tag in _tags(node))
    return f"{str(node.get('open', '(')).translate(_PLAIN)}{inside}{str(node.get('close', ')')).translate(_PLAIN)}"


def _matrix(node: Any) -> str:  # noqa: ANN401 - as bs4 has it
    rows = " \\\\ ".join(" & ".join(tex_of(cell) for cell in _tags(row)) for row in _tags(node))
    return f"\\begin{{matrix}}{rows}\\end{{matrix}}"


def _lines(node: Any) -> str:  # noqa: ANN401 - as bs4 has it
    rows = " \\\\ ".join(tex_of(tag) for tag in _tags(node))
    return f"\\begin{{matrix}}{rows}\\end{{matrix}}"


def _root(degree: str, inside: str) -> str:
    return f"\\sqrt[{degree}]{{{inside}}}" if degree else f"\\sqrt{{{inside}}}"


def _multiscripts(node: Any) -> str:  # noqa: ANN401 - as bs4 has it
    """Scripts on both sides of a base, as of an isotope."""
    base, *rest = _tags(node)
    names = [_local(tag) for tag in rest]
    at = names.index("mprescripts") if "mprescripts" in names else len(rest)
    behind, before = rest[:at], rest[at + 1 :]
    text = [tex_of(tag) if _local(tag) != "none" else "" for tag in (*before[:2], *behind[:2])]
    text = [*[""] * (2 - len(before[:2])), *text, "", ""]
    front = _scripts("{}", text[0], text[1]) if text[0] or text[1] else ""
    return f"{front}{_scripts(tex_of(base), text[2], text[3])}"


_MAKERS: dict[str, Callable[[Any], str]] = {
    "annotation": lambda _: "",
    "annotation-xml": lambda _: "",
    "mphantom": lambda _: "",
    "mprescripts": lambda _: "",
    "none": lambda _: "",
    "mspace": lambda _: " ",
    "semantics": lambda node: _nth(node, 0),
    "mi": _word,
    "mo": lambda node: f"\\{word}" if (word := node.get_text().strip()) in _FUNCTIONS else word.translate(_PLAIN),
    "mtext": _text_of,
    "ms": _text_of,
    "mfrac": lambda node: f"\\frac{{{_nth(node, 0)}}}{{{_nth(node, 1)}}}",
    "f": lambda node: f"\\frac{{{_part(node, 'num')}}}{{{_part(node, 'den')}}}",
    "msqrt": lambda node: _root("", _row(node)),
    "mroot": lambda node: _root(_nth(node, 1), _nth(node, 0)),
    "rad": lambda node: _root(_part(node, "deg"), _part(node, "e")),
    "msup": lambda node: _scripts(_nth(node, 0), "", _nth(node, 1)),
    "msub": lambda node: _scripts(_nth(node, 0), _nth(node, 1), ""),
    "msubsup": lambda node: _scripts(_nth(node, 0), _nth(node, 1), _nth(node, 2)),
    "munder": lambda node: _scripts(_nth(node, 0), _nth(node, 1), ""),
    "mover": _over,
    "munderover": lambda node: _scripts(_nth(node, 0), _nth(node, 1), _nth(node, 2)),
    "mmultiscripts": _multiscripts,
    "ssup": lambda node: _scripts(_part(node, "e"), "", _part(node, "sup")),
    "ssub": lambda node: _scripts(_part(node, "e"), _part(node, "sub"), ""),
    "ssubsup": lambda node: _scripts(_part(node, "e"), _part(node, "sub"), _part(node, "sup")),
    "spre": lambda node: f"{_scripts('{}', _part(node, 'sub'), _part(node, 'sup'))}{_part(node, 'e')}",
    "limlow": lambda node: _scripts(_part(node, "e"), _part(node, "lim"), ""),
    "limupp": lambda node: _scripts(_part(node, "e"), "", _part(node, "lim")),
    "nary": _nary,
    "d": _brackets,
    "mfenced": _fences,
    "acc": lambda node: _accent(node, "accpr"),
    "bar": lambda node: f"\\bar{{{_part(node, 'e')}}}",
    "fname": lambda node: f"\\{word}" if (word := node.get_text().strip()) in _FUNCTIONS else _row(node),
    "mtable": _matrix,
    "m": _matrix,
    "eqarr": _lines,
}
