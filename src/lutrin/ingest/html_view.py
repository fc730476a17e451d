"""A page of HTML as a reader sees it: drops hidden parts; gives notes, boxes, numbers, formulas and code one form each.

It changes the tree in place, before `lutrin.ingest.hypertext` writes it as Markdown. It leaves these marks:

* `tex` elements in the place of formulas,
* `note` elements in the place of note marks, and `notetext` around the notes themselves,
* `data-mark` on each item of a numbered list: the number or letter that a browser shows,
* `data-box` and `data-title` on boxes,
* `pre` with only the code.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Any
from urllib.parse import unquote

import bs4
from bs4.element import NavigableString, PreformattedString

from lutrin.ingest.formulas import UNREAD, known_tex, local
from lutrin.ingest.makers import (
    INLINE,
    LINE_NUMBERS,
    OF_THE_SITE,
    OPENED,
    PAGE_MARKS,
    TITLES,
    UNSEEN,
    box_of,
    parts_of,
)
from lutrin.ingest.styles import SHIFTED, STRIKING, hides, is_white, shift_of
from lutrin.ingest.wording import numeral, whole

_WITHOUT = re.compile(r":not\([^()]*\)|[~^$*|]?=[^\]]*")
"""Parts of a selector that name no element, class, id or attribute for a page to have."""
_WITHIN = re.compile(r":has\([^()]*\)")
_COMBINED = re.compile(r"[\s>+~]+")
_WORD = re.compile(r"[.#\[](?:[\w-]|\\:)+|(?<![\w:.#\[\\-])[a-z][\w-]*", re.IGNORECASE)
_SCRIPT = 'script[type^="math/"]'
_PREVIEW = ".MathJax_Preview"
_DRAWN = (".MathJax:not(mjx-container)", ".MathJax_Display", ".MathJax_SVG", ".MathJax_SVG_Display", ".MathJax_CHTML")
"""Elements that MathJax 2 makes from scripts with formulas."""
_PICTURES = (
    "img.tex", "img.latex", "img.math", "img.texrender", "img.Wirisformula", "img.mwe-math-fallback-image-inline",
)  # fmt: skip
_FORMULAS = (
    ".katex-display", ".katex", _SCRIPT, _PREVIEW, *_DRAWN, "mjx-container", ".mwe-math-element", "math", *_PICTURES,
)  # fmt: skip
_RENDERER = re.compile(
    r"(?:codecogs\.com/(?:[\w.]+/)?(?:latex|gif|png|svg)(?:\.latex|\.\w+)?|latex\.php|math\.(?:vercel|now)[^\s?]{0,200}|chart)"
    r"\?(?:\w+=\w+&(?:amp;)?)*(?:latex=|chl=|from=|tex=)?([^&]+)"
)
"""Services that draw TeX, which is in the picture's address."""
_STYLED = re.compile(r"(?:\{\s*+)?\\(?:displaystyle|textstyle)\b\s*+")
_DELIMITED = re.compile(
    r"(?<!\\)\\\((?P<inline>(?:[^\\]|\\[^()])++)\\\)|(?<!\\)\\\[(?P<display>(?:[^\\]|\\[^\[\]])++)\\\]"
    r"|\$\$(?P<dollars>.+?)\$\$"
    r"|\\begin\{(?P<name>(?:equation|align|gather|multline|eqnarray)\*?)\}"
    r"(?P<body>(?:(?!\\(?:begin|end)\{(?P=name)\}).)++)\\end\{(?P=name)\}",
    re.DOTALL,
)
_SINGLE = re.compile(r"\$(?P<inline>[^\s$](?:[^$\n]*[^\s$\\])?)\$(?!\d)")
_VERBATIM = frozenset({"pre", "code", "tex", "script", "style", "textarea", "kbd", "samp"})
HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"]
_NO_TEXT = frozenset({"script", "style", "noscript", "template", "head", "datalist"})
_BUTTONS = {"button": "", "submit": "Submit", "reset": "Reset", "image": ""}
_SAYING = frozenset({*HEADINGS, *"p li td th dd dt label legend caption figcaption summary".split()})
"""Blocks whose text includes the label of a button, even if they have no other words."""
_OPENS = ("aria-controls", "aria-expanded", "data-toggle", "data-bs-toggle", "data-target", "data-bs-target")
_SIGNAL = re.compile(r"\s*(warning|caution|danger)\s*[:!]", re.IGNORECASE)
_RULE = re.compile(r"(?<![^{}])([^{}]++)\{([^{}]*+)\}")
_SIMPLE = re.compile(r"(?:[a-z][a-z0-9]*)?[.#][\w-]+", re.IGNORECASE)
_MEDIA = re.compile(r"@[\w-]++[^@{;]*+\{(?:[^{}]*+\{[^{}]*+\})*+[^{}]*+\}|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)", re.DOTALL)
_NOTE_CLASSES = frozenset(
    "footnote-ref footnote-reference fnref fn-ref noteref footnote-anchor footnoteref reference-footnote".split()
)
_NOTE_TARGET = re.compile(
    r"#(?=[\w.:-]*+\Z)(?:[\w.-]*[_.:-])?(?:fn|foot_?note|end_?note|note|cite(?:_?note)?|ref|bib|ftnt?|_ftn|_edn|en)",
    re.IGNORECASE,
)
_NOTE_HOLDERS = ["p", "div", "li", "aside", "section", "dd", "tr"]
_SIDE_NOTES = (".sidenote", ".marginnote", ".margin-note", ".side-note")
"""Notes beside the text, placed inside its sentences."""
_BACK = (
    ".footnote-backref",
    ".footnote-back",
    ".reversefootnote",
    "[role=doc-backlink]",
    ".mw-cite-backlink",
    ".fn-backref",
)
_BLANK = " \n\t\u00a0\ufe0e\ufe0f"
_LINK_SIGNS = frozenset("#\u00b6\u21a9\u21b5\u23ce\u2934\u21b0")
"""Texts of links to a heading itself, and of those from a note back to its mark."""
_MARK = re.compile(r"[\[(]?\s*(\d{1,4}|[*\u2020\u2021\u00a7\u00b6]{1,3}|[a-z]|[ivx]{1,5})\s*[\])]?")
_NO_NAME = re.compile(r"[^\w-]+")
_BLOCKS = [*HEADINGS, "p", "ul", "ol", "dl", "blockquote", "table", "pre", "hr"]
_BLOCK_LINES = ("div", "p", "li")
_LINES = frozenset({"line", "token-line", "code-line", "view-line"})
_CODE_CELLS = frozenset({"hljs-ln-code", "blob-code"})
_LISTED = {
    f"{size}{dash}{name}": kind.upper() if size == "upper" else kind
    for size in ("lower", "upper")
    for name, kind in (("alpha", "a"), ("latin", "a"), ("roman", "i"))
    for dash in ("-", "")
}
_LIST_STYLE = re.compile(r"list-style(?:-type)?\s*:\s*([\w-]+)")


def settle(soup: Any, styles: str = "") -> list[str]:  # noqa: ANN401 - as bs4 has it
    """Reduce a tree to its visible content under its style sheets; return the words of the site's own parts."""
    find = _Finder(soup)
    left_out: list[str] = []

    def leave_out(tag: Any) -> None:  # noqa: ANN401 - as bs4 has it
        if not tag.decomposed:
            left_out.append(words_of(tag))
            tag.decompose()

    for reading in find.tags("rt"):  # a word's pronunciation follows it
        text = reading.get_text().strip()
        reading.replace_with(f" ({text})" if text else "")
    for heading in find.all("[role=heading]"):
        heading.name = f"h{min(max(whole(heading.get('aria-level'), 2), 1), 6)}"
    _formulas(soup, find)
    sheets = "\n".join([styles, *(style.get_text() for style in find.tags("style"))])
    styled = _elements_with_styles(find, sheets)
    _shift(find, styled)
    if find.has("pre", "td"):
        _code(soup, find)
    _notes(soup, find)
    for unseen in [*find.all(*UNSEEN, *PAGE_MARKS), *_find_hidden(soup, find, styled, sheets)]:
        unseen.decompose()
    for part in find.all(*OF_THE_SITE):
        leave_out(part)
    for part in _headers(soup, find):
        leave_out(part)
    _drawings(find)
    for button in _controls(find):
        leave_out(button)
    for link in find.tags("a"):
        text = link.get_text()
        if not any(map(str.isalnum, text)) and (text.strip(_BLANK) in _LINK_SIGNS or link.find_parent(HEADINGS)):
            link.decompose()
    _abbreviations(find)
    _boxes(find)
    _numbers(find)
    return [words for words in left_out if any(map(str.isalpha, words))]


def words_of(tag: Any) -> str:  # noqa: ANN401 - as bs4 has it
    """The visible text of an element, without scripts and styles, with single blanks."""
    strings = (text for text in tag.find_all(string=True) if text.parent is None or text.parent.name not in _NO_TEXT)
    return " ".join(" ".join(text for text in strings if not isinstance(text, PreformattedString)).split())


class _Finder:
    """The initial names, classes and attributes of a page, so that selectors that need others are skipped."""

    def __init__(self, soup: Any) -> None:  # noqa: ANN401 - as bs4 has it
        self._tags = [tag for tag in soup.descendants if isinstance(tag, bs4.Tag)]
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        """Indices of the elements by name (`pre`), class (`.katex`), id (`#toc`) or attribute (`[hidden`)."""
        for place, tag in enumerate(self._tags):
            self._places[tag.name].append(place)
            if ":" in tag.name:
                self._places[local(tag)].append(place)
            for name, value in tag.attrs.items():
                self._places[f"[{name}"].append(place)
                if name in {"class", "id"}:
                    for one in [value] if name == "id" else value:
                        self._places[f"{'#' if name == 'id' else '.'}{one}"].append(place)

    def has(self, *words: str) -> bool:
        """Whether any of these names of elements (`pre`), classes (`.katex`) or attributes (`[hidden`) occurs."""
        return not self._places.keys().isdisjoint(words)

    def tags(self, *names: str) -> list[Any]:
        """The elements of these names that were in the initial page and still are, in page order.

        bs4 tries each name on each element of the page, which takes most of the time of reading it.
        """
        return [tag for tag in self._tags if tag.name in names and not tag.decomposed and tag.parent is not None]

    def all(self, *selectors: str) -> list[Any]:
        """The elements that match any of the selectors, in page order."""
        places: set[int] = set()
        for selector in selectors:
            needs, own = _words_of(selector)
            if needs <= self._places.keys():
                there = [n for n in min((self._places[word] for word in own), key=len) if not self._tags[n].decomposed]
                is_plain = selector.rstrip("]") in own
                places.update(there if is_plain else [n for n in there if self._tags[n].css.match(selector)])
        return [self._tags[place] for place in sorted(places)]


@lru_cache(maxsize=4096)
def _words_of(selector: str) -> tuple[frozenset[str], frozenset[str]]:
    r"""Names that a page must contain for a selector to match, and those of the matching element itself.

    >>> [sorted(words) for words in _words_of("[epub\\:type~=footnote] > td.gutter:has(a)")]
    [['.gutter', '[epub:type', 'a', 'td'], ['.gutter', 'td']]
    """
    plain = _WITHOUT.sub("", selector)
    own = _COMBINED.split(_WITHIN.sub("", plain))[-1]
    needs, has = (frozenset(word.replace("\\", "") for word in _WORD.findall(part)) for part in (plain, own))
    return needs, has


# What is not seen ----------------------------------------------------------------------------------------------------


def _elements_with_styles(find: _Finder, sheets: str) -> list[tuple[Any, str]]:
    """Elements with their own styles, or those from simple selectors of relevant rules."""
    styled = [(tag, str(tag["style"])) for tag in find.all("[style]")]
    for selectors, body in _RULE.findall(_MEDIA.sub("", sheets)):
        if hides(body) or is_white(body) or "align" in body or STRIKING.search(body):
            plain = [one.strip() for one in selectors.split(",") if _SIMPLE.fullmatch(one.strip())]
            styled += [(tag, body) for tag in find.all(*plain)]
    return styled


def _find_hidden(soup: Any, find: _Finder, styled: Sequence[tuple[Any, str]], sheets: str) -> list[Any]:  # noqa: ANN401 - as bs4 has it
    """Elements that the page hides for good, including white letters on an all-white page."""
    styled = [(tag, style) for tag, style in styled if not tag.decomposed]
    tags = [tag for tag in find.all("[hidden]") if str(tag.get("hidden")).lower() != "until-found"]
    white = [tag for tag, style in styled if is_white(style) and not hides(style)]
    tags += [tag for tag, style in styled if hides(style)]
    tags += white if white and _is_white_page(soup, sheets) else []
    return [tag for tag in tags if not _is_opened(tag)]


def _is_white_page(soup: Any, sheets: str) -> bool:  # noqa: ANN401 - as bs4 has it
    """Whether no style gives any part of a page another background than white."""

    def may_colour(tag: Any) -> bool:  # noqa: ANN401 - as bs4 has it
        linked = tag.name == "link" and "stylesheet" in (tag.get("rel") or ())
        return linked or tag.has_attr("bgcolor") or "background" in str(tag.get("style") or "")

    whole = [soup, *soup.parents][-1]
    return "background" not in sheets and whole.find(may_colour) is None


def _shift(find: _Finder, styled: Sequence[tuple[Any, str]]) -> None:
    """Turn elements that classes or styles raise, lower or strike out into `sup`, `sub` and `del`."""
    tags = find.all(*(f".{name}" for names in SHIFTED.values() for name in names))
    for tag, style in [*((tag, str(tag.get("style") or "")) for tag in tags), *styled]:
        shift = shift_of(tag.name, tag.get("class") or (), style)
        if shift and tag.find(_BLOCK_LINES) is None:
            tag.name = shift


def _is_opened(tag: Any) -> bool:  # noqa: ANN401 - as bs4 has it
    """Whether a reader can open a hidden part: the panel of a tab, an answer that unfolds."""
    if tag.get("role") == "tabpanel" or tag.get("aria-labelledby"):
        return True
    return any(not OPENED.isdisjoint(parts_of(name)) for name in tag.get("class") or ())


def _headers(soup: Any, find: _Finder) -> Iterator[Any]:  # noqa: ANN401 - as bs4 has it
    """Headers and footers of a site, except a header with a title in it, and a footer with notes."""
    titles = len(find.tags("h1"))
    for header in find.tags("header"):
        inside = header.find_parent(["main", "article", "section"]) is not None or soup.name in {"main", "article"}
        if header.find(HEADINGS) is None or not (inside or len(header.find_all("h1")) == titles):
            yield header
    for footer in find.tags("footer"):
        if footer.find("notetext") is None and footer.find_parent("blockquote") is None:
            yield footer


# What readers press, choose and fill in ------------------------------------------------------------------------------


def _controls(find: _Finder) -> list[Any]:
    """Insert the visible text of buttons and fields into their sentences; return standalone buttons, such as *Copy*.

    A button that opens a part of the page is its title.
    """
    buttons = find.tags("button")
    for field in find.tags("input"):
        kind = str(field.get("type") or "text").lower()
        if kind in _BUTTONS:
            field.name = "button"
            field.append(NavigableString(str(field.get("value") or field.get("alt") or _BUTTONS[kind])))
            buttons.append(field)
        else:
            _fill_in(field, kind)
    for choice in find.tags("select"):
        options = [" ".join(option.get_text().split()) for option in choice.find_all("option")]
        choice.name, choice.string = "button", " / ".join(option for option in options if option)
        buttons.append(choice)
    for area in find.tags("textarea"):
        area.name = "pre" if "\n" in area.get_text().strip() else "span"
    return [button for button in buttons if not button.decomposed and _stands_alone(button)]


def _fill_in(field: Any, kind: str) -> None:  # noqa: ANN401 - as bs4 has it
    """Replace a field by its visible content: a line to write on inside a sentence; a selectable option is an item."""
    if kind in {"radio", "checkbox"}:
        label = field.find_parent("label") or field.find_next_sibling()
        if label is not None and label.name == "label":
            label.name = "li"
    elif kind != "hidden":
        is_within = any(isinstance(one, NavigableString) and one.strip() for one in field.parent.children)
        field.insert_before(NavigableString(str(field.get("value") or ("____" if is_within else ""))))
    field.decompose()


def _stands_alone(button: Any) -> bool:  # noqa: ANN401 - as bs4 has it
    """Whether a button is outside of any sentence and opens nothing; the label of any other becomes text."""
    block = next((parent for parent in button.parents if parent.name not in INLINE), None)
    outer = next((one for one in (button, *button.parents) if one.parent is block), button)
    classes = {part for name in button.get("class") or () for part in parts_of(name)}
    opens = button.get("role") == "tab" or any(map(button.has_attr, _OPENS)) or not OPENED.isdisjoint(classes)
    if block is None or block.name in _SAYING or _has_words(outer.previous_siblings) or _has_words(outer.next_siblings):
        button.name = "span"
    elif opens:
        button.wrap(bs4.Tag(name="p"))
        button.name = "strong"
    else:
        return True
    return False


def _has_words(siblings: Iterable[Any]) -> bool:
    """Whether there are words beside an element, before the next block or button."""
    running = takewhile(lambda one: not isinstance(one, bs4.Tag) or (one.name in INLINE - {"button"}), siblings)
    return any(one.get_text().strip() for one in running if not isinstance(one, PreformattedString))


def _drawings(find: _Finder) -> None:
    """Replace drawings by their words, as descriptions of pictures; icons on links show no titles."""
    for drawing in find.tags("svg"):
        if drawing.decomposed:
            continue
        is_sign = drawing.find_parent(["a", "button", *HEADINGS]) is not None
        names = ["text", "foreignobject"] if is_sign else ["title", "desc", "text", "foreignobject"]
        words = [] if is_sign else [str(drawing.get("aria-label") or "")]
        words += [words_of(text) for text in drawing.find_all(names)]
        text = ", ".join(dict.fromkeys(word for word in words if any(map(str.isalnum, word))))
        picture = bs4.Tag(name="img", attrs={"alt": text, "src": ""})
        drawing.replace_with(f" {text} " if is_sign else picture if text else "")


def _abbreviations(find: _Finder) -> None:
    """Insert the long form of an abbreviation after its first use on the page."""
    seen: set[str] = set()
    for tag in find.tags("abbr", "acronym"):
        title = " ".join(str(tag.get("title") or "").split())
        if title and title not in seen and title.casefold() != tag.get_text().strip().casefold():
            seen.add(title)
            tag.append(NavigableString(f" ({title})"))


# Formulas ------------------------------------------------------------------------------------------------------------


def _formulas(soup: Any, find: _Finder) -> None:  # noqa: ANN401 - as bs4 has it
    """Replace each formula of a page by an element `tex`."""
    addresses = [f"{tag.get('src') or ''} {tag.get('href') or ''}".lower() for tag in find.tags("script", "link")]
    loads = any("mathjax" in address or "katex" in address for address in addresses)
    has_maths = loads or find.has(".katex", ".mwe-math-element", "mjx-container", "math")
    has_scripts = bool(find.has("script") and find.all(_SCRIPT))
    pictures = [picture for picture in find.tags("img") if _RENDERER.search(str(picture.get("src") or ""))]
    for carrier in [*find.all(*_FORMULAS), *pictures]:
        if carrier.decomposed:
            continue
        names = carrier.get("class") or ()
        # In pages saved by programs, without the scripts of the formulas, only their drawings are left.
        if not ("MathJax_Preview" in names or (has_scripts and carrier.css.match(", ".join(_DRAWN)))):
            tex = " ".join(_unwrap(_tex_within(carrier)).split())
            display = carrier.get("display") in {"true", "block"} or "display" in str(carrier.get("type"))
            display = display or any("isplay" in name for name in names)
            display = display or carrier.select_one(".mwe-math-mathml-display") is not None
            carrier.insert_before(tag_of(tex, display=display))
        carrier.decompose()
    if has_maths or any(mark in soup.get_text() for mark in ("\\(", "\\[", "$$", "\\begin{")):
        _mark_delimiters(soup, _DELIMITED)
    if has_maths:
        _mark_delimiters(soup, _SINGLE)


def _tex_within(carrier: Any) -> str:  # noqa: ANN401 - as bs4 has it
    """TeX that an element, or one inside it, contains in any form."""
    if carrier.name == "script":
        return str(carrier.get_text()) if carrier["type"].startswith("math/tex") else _tex_in(carrier.get_text())
    picture = carrier if carrier.name == "img" else carrier.find("img")
    if picture is not None and (query := _RENDERER.search(str(picture.get("src") or ""))):
        return unquote(query[1])
    math = carrier if _is_math(carrier) else carrier.find(_is_math)
    drawn = carrier if carrier.has_attr("data-mathml") else carrier.find(attrs={"data-mathml": True})
    tex = (known_tex(math) if math else "") or (_tex_in(str(drawn["data-mathml"])) if drawn else "")
    return tex or str((picture.get("alt") if picture else "") or carrier.get("data-latex") or "")


def _tex_in(markup: str) -> str:
    math = bs4.BeautifulSoup(markup.replace("«", "<").replace("»", ">").replace("¨", '"'), "html.parser").find(_is_math)
    return known_tex(math) if math else ""


def _is_math(tag: Any) -> bool:  # noqa: ANN401 - as bs4 has it
    return local(tag) == "math"


def tag_of(tex: str, *, display: bool) -> Any:  # noqa: ANN401 - as bs4 has it
    """The element for a formula, with its TeX in `data-tex`; the notice if there is no TeX."""
    if not tex.strip():
        return NavigableString(UNREAD)
    return bs4.Tag(name="tex", attrs={"data-tex": tex, **({"display": "block"} if display else {})})


def _unwrap(tex: str) -> str:
    """Strip delimiters and Wikipedia's style wrapper from TeX."""
    tex = tex.strip()
    for start, end in (("\\(", "\\)"), ("\\[", "\\]"), ("$$", "$$"), ("$", "$")):
        if tex.startswith(start) and tex.endswith(end) and len(tex) > len(start) + len(end):
            tex = tex[len(start) : -len(end)].strip()
            break
    match = _STYLED.match(tex)
    if match is None:
        return tex
    return tex[match.end() :].removesuffix("}" if tex.startswith("{") else "")


def _mark_delimiters(soup: Any, pattern: re.Pattern[str]) -> None:  # noqa: ANN401 - as bs4 has it
    """Find formulas between the delimiters that MathJax and KaTeX recognise in a page's text."""
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


# Notes ---------------------------------------------------------------------------------------------------------------


def _notes(soup: Any, find: _Finder) -> None:  # noqa: ANN401 - as bs4 has it
    """Turn links between marks and notes into note marks and notes."""
    for back in find.all(*_BACK):
        back.decompose()
    for number, aside in enumerate(find.all(*_SIDE_NOTES)):
        if aside.name == "span" and (block := aside.find_parent(["p", "div"])) is not None:
            aside.insert_before(bs4.Tag(name="note", attrs={"data-name": f"side-{number}"}))
            block.insert_after(aside.extract())
            aside.name, aside.attrs = "notetext", {"data-name": f"side-{number}"}
    names: dict[str, str] = {}
    for link in find.tags("a"):
        target = str(link.get("href") or "")
        if not link.decomposed and _is_note_mark(link, target):
            mark = link.find_parent("sup") or link
            if mark is not link and mark.get_text().strip(" \n[]()") != link.get_text().strip(" \n[]()"):
                mark = link
            name = target.partition("#")[2] or link.get_text().strip()
            names.setdefault(name, _NO_NAME.sub("-", name).strip("-") or str(len(names) + 1))
            mark.replace_with(bs4.Tag(name="note", attrs={"data-name": names[name]}))
    for name, label in names.items():
        holder = soup.find(id=name)
        if holder is not None and holder.name not in _NOTE_HOLDERS:
            holder = holder.find_parent(_NOTE_HOLDERS)
        if holder is not None and holder.find_parent("notetext") is None and not holder.find("note"):
            _as_note(holder, label)


def _is_note_mark(link: Any, target: str) -> bool:  # noqa: ANN401 - as bs4 has it
    kinds = f"{link.get('epub:type') or ''} {link.get('role') or ''}"
    if "noteref" in kinds:
        return True
    text = link.get_text().strip()
    if "#" not in target or not _MARK.fullmatch(text):
        return False
    around = {*(link.get("class") or ()), *((link.parent.get("class") or ()) if link.parent else ())}
    raised = link.find_parent("sup") is not None or link.find("sup") is not None
    return (
        raised or not _NOTE_CLASSES.isdisjoint(around) or _NOTE_TARGET.match(f"#{target.partition('#')[2]}") is not None
    )


def _as_note(element: Any, name: str) -> None:  # noqa: ANN401 - as bs4 has it
    """Turn an element into the text of a note, dropping the repeated mark."""
    for link in element.find_all("a"):
        text = link.get_text().strip()
        if str(link.get("href") or "").rpartition("#")[2] and (
            _MARK.fullmatch(text) or not any(map(str.isalnum, text))
        ):
            (link.find_parent("sup") or link).decompose()
    first = next((text for text in element.find_all(string=True) if text.strip()), None)
    if first is not None and (
        match := re.match(r"\s*[\[(]?(?:\d{1,4}|[*\u2020\u2021]{1,3})[\])]?[.:]?(?:\s+|\Z)", first)
    ):
        first.replace_with(NavigableString(first[match.end() :]))
    element.attrs = {"data-name": name}
    element.name = "notetext"


# Boxes, numbers ------------------------------------------------------------------------------------------------------


def _frames(find: _Finder) -> None:
    """Turn each table of one cell, a common frame in Word, into a box; one that begins with a signal word warns."""
    for table in find.tags("table"):
        cells = [] if table.decomposed else table.find_all(["td", "th"], limit=2)
        if len(cells) != 1 or table.find(["caption", "pre", *HEADINGS]) is not None:
            continue
        first, *others = table.find_all(["p", "li"], limit=2) or [None]
        kind = first.get_text().strip().lower() if others else ""
        for tag in table.find_all(["tbody", "thead", "tr", "td", "th"]):
            tag.name, tag.attrs = "div", {}
        table.name, table.attrs = "aside", {}
        if first is not None and _SIGNAL.fullmatch(f"{kind.rstrip(':!')}:"):
            table["class"], first["class"] = [kind.rstrip(":!")], ["title"]


def _layout(find: _Finder) -> None:
    """Unwrap layout tables.

    They have no heads, and one of their cells contains a heading with its text, or, if rows differ or there is only
    one, several blocks.
    """
    for table in find.tags("table"):
        if table.decomposed or table.find(["th", "thead", "caption", "pre"]) is not None:
            continue
        rows = [row for row in table.find_all("tr") if row.find_parent("table") is table]
        cells = [[cell for cell in row.children if cell.name == "td"] for row in rows]
        is_grid = len(cells) > 1 and len({len(row) for row in cells}) == 1 < len(cells[0])
        layout = table.get("role") in {"presentation", "none"} or any(
            (len(blocks) > 1 and any(block.name in HEADINGS for block in blocks))
            or (not is_grid and (len(blocks) > 1 or any(block.name in {"br", "table"} for block in blocks)))
            for blocks in (_blocks_in(cell) for row in cells for cell in row)
        )
        for tag in [table, *table.find_all(["tbody", "tfoot", "tr", "td"])] if layout else ():
            if tag is table or tag.find_parent("table") is None:
                tag.name, tag.attrs = "div", {}


def _blocks_in(cell: Any) -> list[Any]:  # noqa: ANN401 - as bs4 has it
    """The text blocks in a cell, also nested in blocks without text of their own; empty lines separate text."""
    blocks: list[Any] = []
    for child in cell.children:
        if child.name in {"div", "center", "section", "article", "font"} and child.find(_BLOCKS) is not None:
            blocks += _blocks_in(child)
        elif (child.name in _BLOCKS and any(map(str.isalnum, child.get_text()))) or (
            child.name == "br" and child.next_sibling is not None and child.next_sibling.name == "br"
        ):
            blocks.append(child)
    return blocks


def _boxes(find: _Finder) -> None:
    """Find the boxes of every program, and the title inside each."""
    _frames(find)
    _layout(find)
    for element in find.tags("div", "aside", "section", "blockquote", "p", "details", "table"):
        if element.decomposed or not (element.attrs or element.name in {"aside", "blockquote"}):
            continue
        kind = box_of(element.get("class") or ()) if element.name != "details" else ""
        if not kind and (element.get("role") in {"note", "alert"} or element.name in {"aside", "blockquote"}):
            signal = _SIGNAL.match(element.get_text())
            kind = signal[1].lower() if signal else ""
        inside = not kind or element.find_parent(attrs={"data-box": True}) is not None
        if inside or not any(c.isalnum() for c in element.get_text()):
            continue
        _unframe(element)
        title = _title_of(element)
        element.name = "div"
        element.attrs = {"data-box": kind, **({"data-title": title} if title else {})}


def _unframe(element: Any) -> None:  # noqa: ANN401 - as bs4 has it
    """Unwrap a box from the table that Asciidoctor and DocBook draw it with."""
    table = element if element.name == "table" else element.find("table")
    if table is None or len(table.find_all("tr")) > 2 or element.get_text().strip() != table.get_text().strip():
        return
    for tag in element.find_all(["table", "tbody", "tr", "td", "th"]):
        if tag.name == "th":
            tag["class"] = ["title"]
        elif tag.name == "td" and not tag.get_text().strip():
            tag.decompose()  # its icon
            continue
        tag.name = "div"


def _title_of(element: Any) -> str:  # noqa: ANN401 - as bs4 has it
    for child in element.find_all(limit=6):
        names = {part for name in child.get("class") or () for part in parts_of(name)}
        text = " ".join(child.get_text().split())
        if (child.name in HEADINGS or not TITLES.isdisjoint(names)) and len(text) < len(
            " ".join(element.get_text().split())
        ):
            alts = " ".join(str(picture.get("alt") or "") for picture in child.find_all("img"))
            child.decompose()
            return f"{text} {alts}".strip()
    return ""


def _numbers(find: _Finder) -> None:
    """Record the number or letter that a browser shows before each item."""
    for listing in find.tags("ol"):
        items = [item for item in listing.children if item.name == "li" and "data-mark" not in item.attrs]
        down = listing.has_attr("reversed")
        number = whole(listing.get("start"), len(items) if down else 1)
        style = _LIST_STYLE.search(str(listing.get("style") or ""))
        names = [name for name in listing.get("class") or () if name in _LISTED]
        kind = _LISTED.get(style[1] if style else names[0], "1") if style or names else str(listing.get("type") or "1")
        for item in items:
            number = whole(item.get("value"), number)
            item["data-mark"] = f"{numeral(number, kind)}."
            number += -1 if down else 1


# Code ----------------------------------------------------------------------------------------------------------------


def _code(soup: Any, find: _Finder) -> None:  # noqa: ANN401 - as bs4 has it
    """Reduce a block of code to its own characters."""
    for number in find.all(*LINE_NUMBERS):
        holder = number.find_parent("table")
        if number.find_parent("pre") is not None or (holder is not None and holder.find(_is_code) is not None):
            number.decompose()
    for broken in find.all("pre br"):
        broken.replace_with("\n")
    for table in find.tags("table"):
        if not table.decomposed:
            _code_of_table(table)
    for block in [block for block in soup.descendants if block.name == "pre"]:
        text = block.get_text()
        lines = block.find_all(lambda tag: "data-line" in tag.attrs or not _LINES.isdisjoint(tag.get("class") or ()))
        lines = lines or block.find_all(_BLOCK_LINES)
        if len(lines) > 1 and text.strip("\n").count("\n") < len(lines) - 1:
            text = "\n".join(line.get_text().strip("\r\n") for line in lines if line.find(_BLOCK_LINES) is None)
        language = block.get("data-code") or language_of(block)
        block.clear()
        block.append(NavigableString(text.replace("\r\n", "\n").replace("\r", "\n")))
        block.attrs = {"data-code": language}


def _is_code(tag: Any) -> bool:  # noqa: ANN401 - as bs4 has it
    return tag.name == "pre" or not _CODE_CELLS.isdisjoint(tag.get("class") or ())


def _code_of_table(table: Any) -> None:  # noqa: ANN401 - as bs4 has it
    """Replace a highlighter's table, whose numbers have been removed, by its code."""
    cells = [cell for cell in table.find_all("td") if not _CODE_CELLS.isdisjoint(cell.get("class") or ())]
    filled = cells or [cell for cell in table.find_all(["td", "th"]) if cell.get_text().strip()]
    if not cells and (len(filled) != 1 or table.find("pre") is None):
        return
    inside = table.find_parent("pre")
    language = language_of(inside or table)
    text = "\n".join(cell.get_text().strip("\r\n") for cell in filled)
    code = bs4.Tag(name="pre", attrs={"data-code": language})
    code.append(NavigableString(text))
    (inside or table).replace_with(code)


_LANGUAGE = re.compile(r"(?:language|lang|highlight(?:-source)?|sourceCode|brush:)[-_ ]?([\w+#]+)")
_NO_LANGUAGE = frozenset({"none", "table", "text-html", "wrapper"})


def language_of(element: Any) -> str:  # noqa: ANN401 - as bs4 has it
    """The language of a code block, from the classes of the generators."""
    above = element.parent
    around = (element, *element.find_all("code", limit=1), above, above.parent if above else None)
    for tag in around:
        names = " ".join(tag.get("class") or ()) if tag is not None else ""
        for match in _LANGUAGE.finditer(names):
            if match[1] not in _NO_LANGUAGE:
                return match[1]
    return ""
