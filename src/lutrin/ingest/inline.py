"""The inline content of a paragraph: mistune's inline parser, extended by MDX, and the visible text with its places.

mistune's tokens have no positions. Here each token except plain text gets the range of its rule's match. Plain text is
located between those ranges, where only escapes and emphasis marks can precede it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from html import unescape
from operator import attrgetter
from os.path import commonprefix
from typing import Any

import mistune
from mistune.core import InlineState

from lutrin.ingest.blocks import References, is_tag
from lutrin.ingest.dialects import ATTRIBUTES, LIQUID
from lutrin.ingest.makers import HTML, INLINE, VOID
from lutrin.ingest.placed_text import Range
from lutrin.ingest.script import (
    attribute_texts,
    is_comment,
    is_shown,
    literal_of,
    scan_braces,
    scan_tag,
    shown_literals,
    skip_literal,
    unquote,
)
from lutrin.ingest.styles import are_hiding, shift_of
from lutrin.ingest.tree import Tag, is_dark_address, is_dark_twin, is_hidden
from lutrin.ingest.wording import UNKNOWN, clean, looks_like_note_mark, signs_around

Token = dict[str, Any]
"""A token of mistune: `type`, `raw` or `children`, `attrs`; extended by `span`, its range in the text."""

# mistune's time grows quadratically with the marks in a text, so longer texts are cut at white space.
_LONGEST = 16_000
_NESTING = 20  # elements within each other; deeper ones stay text
# MyST's roles for links, written as a text, a space and the target in angle brackets.
_REFERENCES = frozenset("ref numref doc term eq any download cite keyword option envvar".split())
# The description of a picture in Pandoc's attributes.
_ALT = re.compile(r"\balt=(?:\"(?P<double>[^\"]+)\"|'(?P<single>[^']+)')")
_TEX = re.compile(r"\\[A-Za-z]{2,}|[_^][\w{]|[=<>]")
_STRUCK = re.compile(r"[^~\n]*[^\s~](~)(?![\w~])")
_TARGET = re.compile(r"`([^`<>]*[^`<>\s])\s+<[^`<>]*>`")
_BRACKET = re.compile(r"(?<!\\)[\[\]]")
_LONGEST_NOTE = 4_000
# Characters of a page that may be scanned in vain for the end of a tag or brace; afterwards the rest is text.
_PATIENCE = 4_000_000


class _State(InlineState):
    """The state of mistune's parser, with the offset of its part in the whole text."""

    base = 0
    mdx = False

    def copy(self) -> "_State":
        state = super().copy()
        if not isinstance(state, _State):  # mistune creates nested states of this class
            raise TypeError(type(state))
        state.mdx, state.base = self.mdx, self.base
        return state


class _Parser(mistune.InlineParser):
    state_cls = _State

    def __init__(self) -> None:
        super().__init__(max_nested_level=_NESTING)
        self.rules.remove("inline_html")
        for name, pattern, rule, before in _RULES:
            self.register(name, pattern, rule, before=before, start_chars=set("<{$~\\[^"))

    def hold(self, kind: str, state: _State, inside: Range, end: int, **more: object) -> int:
        """Add a token for the text between two places; return its end."""
        inner = state.copy()
        inner.base, inner.src = state.base + inside[0], state.src[slice(*inside)]
        state.append_token({"type": kind, "children": self.render(inner), **more})
        return end

    def parse_method(self, m: re.Match[str], state: Any) -> int | None:  # noqa: ANN401 - as mistune declares it
        count = len(state.tokens)
        end: int | None = super().parse_method(m, state)
        if end:
            for token in reversed(state.tokens):
                if "span" in token:
                    break
                token["span"] = (state.base + m.start(), state.base + end)
            if len(state.tokens) < count and m.lastgroup == "link_close":
                _span_link(state.tokens[-1])
        return end


def _span_link(token: Token) -> None:
    """Set a link's span: its match is the closing bracket, and it starts before its first child, which has a span."""
    children = token.get("children") or []
    if children and "span" in children[0] and "span" in token:
        token["span"] = (children[0]["span"][0], token["span"][1])


def _parse_tag(_parser: _Parser, m: re.Match[str], state: _State) -> int | None:
    start, src = m.start(), state.src
    if src.startswith(("<!", "<?"), start):
        closer = "-->" if src.startswith("<!--", start) else ">"
        close = state.delimiters.find(closer, start + 4 * (closer != ">"))
        if close is None or (closer == ">" and state.mdx):
            return None
        state.append_token({"type": "comment"})
        return close + len(closer)
    if state.env["patience"] < 0:
        return None
    tag = scan_tag(src, start)
    if tag is None or not is_tag(tag, state.env["source"], state.env["tags"], mdx=state.mdx):
        state.env["patience"] -= 200
        return None
    if tag.name.lower() == "math" and not tag.closing and (close := src.find("</math", tag.end)) > 0:
        stop = src.find(">", close) + 1
        from lutrin.ingest.formulas import tex_of_markup  # noqa: PLC0415 - a parser of HTML, which few pages need

        state.append_token({"type": "maths", "raw": tex_of_markup(src[start:stop])})
        return stop or len(src)
    state.append_token({"type": "comment"} if is_dark_twin(tag) else {"type": "tag", "tag": tag})
    return tag.end


def _parse_expression(_parser: _Parser, m: re.Match[str], state: _State) -> int | None:
    start = m.start()
    if not state.mdx and not state.src.startswith("{/*", start):
        return None if state.env["plain"] else _parse_unseen(start, state) or _parse_role(start, state)
    end = scan_braces(state.src, start) if state.env["patience"] >= 0 else None
    if end is None:
        state.env["patience"] -= len(state.src) - start
        state.env["unclosed"] = state.mdx
        return None
    raw = state.src[start + 1 : end - 1]
    state.append_token({"type": "expression", "raw": raw})
    state.env["expressions"][raw] = None
    return end


def _parse_unseen(start: int, state: _State) -> int | None:
    """Parse invisible markup: attributes after an element, and tags that a site generator replaces."""
    match = LIQUID.match(state.src, start)
    if match is None and start and state.src[start - 1] in (")]`*_" if state.src.startswith("{:", start) else ")]`"):
        match = ATTRIBUTES.match(state.src, start)
    if match is None:
        return None
    last = state.tokens[-1] if state.tokens else {}
    alt = _ALT.search(state.src, start, match.end())
    if alt and last.get("type") == "image" and not last["children"]:
        group = alt.lastgroup or 0
        place = (state.base + alt.start(group), state.base + alt.end(group))
        last["children"] = [{"type": "codespan", "raw": alt[group], "span": place}]
    state.append_token({"type": "comment"})
    return match.end()


def _parse_span(parser: _Parser, m: re.Match[str], state: _State) -> int | None:
    """Parse Pandoc's `[text]{#id .class}`, of which only the text is visible."""
    close = state.src.index("]{", m.end())
    attributes = ATTRIBUTES.match(state.src, close + 1)
    if state.mdx or attributes is None or state.depth >= _NESTING:
        return None
    if are_hiding(attributes.group()):
        state.append_token({"type": "comment"})
        return attributes.end()
    return parser.hold("span", state, (m.end(), close), attributes.end(), raw=attributes.group())


def _parse_tex(_parser: _Parser, m: re.Match[str], state: _State) -> int | None:
    r"""Parse TeX's `\(x^2\)` and `\[x^2\]`, or the forms with two backslashes, of which Markdown leaves MathJax one.

    Brackets that are merely escaped contain no TeX.
    """
    slashes = m[0][:-1]
    close = state.src.find(slashes + (")" if m[0].endswith("(") else "]"), m.end())
    body = "" if close < 0 or state.env["plain"] else state.src[m.end() : close]
    if body.strip() if len(slashes) > 1 else not state.mdx and _TEX.search(body):
        state.append_token({"type": "maths", "raw": body.strip()})
        return close + len(m[0])
    if len(slashes) > 1:
        return None
    state.append_token({"type": "text", "raw": m[0][1]})
    return m.end()


def _parse_role(start: int, state: _State) -> int | None:
    """Parse MyST's ``{kbd}`Ctrl` ``: the role is markup, the code span after it is text, its target is not."""
    end = state.src.find("}`", start, start + 40)
    name = state.src[start + 1 : end]
    if end < 0 or not name.replace("-", "").replace(":", "").isalnum():
        return None
    state.append_token({"type": "comment"})
    target = _TARGET.match(state.src, end + 1) if ":" in name or name in _REFERENCES else None
    if target is None:
        return int(end) + 1
    begin, stop = state.base + end + 1, state.base + target.end(1) + 1
    state.append_token({"type": "codespan", "raw": target[1], "span": (begin, stop)})
    state.append_token({"type": "comment", "span": (stop, state.base + target.end())})
    return target.end()


def _parse_maths(_parser: _Parser, m: re.Match[str], state: _State) -> int | None:
    """Parse `$x$` as maths; `$1.50 and $2` is not: no blank inside the dollars, no digit after the closing one."""
    mark, src, start = m[0], state.src, m.end()
    close = src.find(mark, start)
    while close > 0 and src[close - 1] == "\\":
        close = src.find(mark, close + 1)
    if close <= start:
        return None
    body = src[start:close]
    if len(mark) == 1 and ("`" in body or body != body.strip() or src[close + 1 : close + 2].isdigit()):
        return None
    state.append_token({"type": "maths", "raw": body})
    return close + len(mark)


def _parse_strike(parser: _Parser, m: re.Match[str], state: _State) -> int | None:
    close = state.delimiters.find("~~", m.end(), formatting=True) if state.depth < _NESTING else None
    return None if close is None else parser.hold("strike", state, (m.end(), close), close + 2)


def _parse_struck(parser: _Parser, m: re.Match[str], state: _State) -> int | None:
    """Parse GitHub's `~text~`; `~5 kg` and `~/arm` are text."""
    closing = _STRUCK.match(state.src, m.end()) if state.depth < _NESTING else None
    return None if closing is None else parser.hold("strike", state, (m.end(), closing.start(1)), closing.end())


def _parse_footnote(_parser: _Parser, m: re.Match[str], state: _State) -> int:
    notes = state.env["notes"]
    state.append_token({"type": "note", "number": notes.setdefault(m[0], len(notes) + 1)})
    return m.end()


def _parse_aside(parser: _Parser, m: re.Match[str], state: _State) -> int | None:
    """Parse Pandoc's `^[note]`, whose text is separate from the sentence."""
    close = _closings(state.src).get(m.end() - 1, 0)
    if not 0 <= close - m.end() < _LONGEST_NOTE or state.mdx or state.depth >= _NESTING:
        return None
    notes, raw = state.env["notes"], state.src[m.end() : close]
    number = notes.setdefault((state.base + m.start(), raw), len(notes) + 1)
    return parser.hold("aside", state, (m.end(), close), close + 1, number=number, raw=raw)


@lru_cache(maxsize=2 * _NESTING)
def _closings(src: str) -> dict[int, int]:
    """The closing place of each closed bracket, found in one pass."""
    closings: dict[int, int] = {}
    opened: list[int] = []
    for bracket in _BRACKET.finditer(src):
        if bracket.group() == "[":
            opened.append(bracket.start())
        elif opened:
            closings[opened.pop()] = bracket.start()
    return closings


def _parse_shift(parser: _Parser, m: re.Match[str], state: _State) -> int | None:
    """Parse Pandoc's `10^9^` and `H~2~O`."""
    if state.mdx or state.depth >= _NESTING:
        return None
    return parser.hold("raised" if m[0][0] == "^" else "lowered", state, (m.start() + 1, m.end() - 1), m.end())


_RULES: tuple[tuple[str, str, Any, str], ...] = (
    ("tag", r"<(?=[A-Za-z/>!?])", _parse_tag, "linebreak"),
    ("expression", r"\{", _parse_expression, "linebreak"),
    ("maths", r"\${1,2}(?!\$)", _parse_maths, "linebreak"),
    ("strike", r"~~(?=[^\s~])", _parse_strike, "linebreak"),
    ("struck", r"(?<![\w~])~(?=[^\s~/])", _parse_struck, "linebreak"),
    ("tex_maths", r"\\\\?[(\[]", _parse_tex, "escape"),
    ("span", r"\[(?!\^)(?=[^\[\]\n]{1,200}\]\{)", _parse_span, "link"),
    ("raised", r"(?<=[\w)\]])\^[-+\u2212]?\w{1,20}\^(?!\w)", _parse_shift, "link"),
    ("lowered", r"(?<=[A-Za-z)\]])~[-+\u2212]?\w{1,20}~(?!~)", _parse_shift, "struck"),
    ("aside", r"\^\[", _parse_aside, "link"),
    ("footnote", r"\[\^[^\s\]]{1,100}\](?!\()", _parse_footnote, "link"),
)
"""Syntax unknown to mistune: name, pattern, parser, and the rule that each precedes."""


@lru_cache(maxsize=1)
def _parser() -> _Parser:
    return _Parser()


class Inline:
    """Parses the inline content of one page; if `plain` (converted to Markdown), a backslash only escapes."""

    def __init__(self, source: str, references: References, *, mdx: bool, plain: bool = False) -> None:
        self._env: dict[str, Any] = {
            "ref_links": references,
            "source": source,
            "tags": {},
            "notes": {},
            "patience": _PATIENCE,
            "plain": plain,
            "expressions": {},
            "components": {},
            "struck": {},
            "titles": {},
        }
        self._mdx = mdx

    def tokens(self, text: str) -> list[Token]:
        """The inline tokens of a paragraph, heading or table cell; all except plain text have a `span`.

        A tag's token also has `shows` for visible text that is not between tags: the long form of an abbreviation, the
        label of a button, or `UNKNOWN` for a component without words.
        """
        tokens: list[Token] = []
        for start, end in _parts(text):
            state = _State(self._env)
            state.src, state.base, state.mdx = text[start:end], start, self._mdx
            tokens += _parser().render(state)
        self._mark(tokens, text)
        return _style(tokens)

    def _mark(self, tokens: Sequence[Token], text: str) -> None:
        """Set the visible text of tags, and record parts that are not read."""
        titles: list[str] = []
        for place, token in enumerate(tokens):
            if token["type"] == "strike":
                self._env["struck"][clean(plain_text(token["children"]))] = None
            if "children" in token:
                self._mark(token["children"], text)
            tag = token.get("tag")
            if tag is None:
                continue
            if tag.name == "abbr":
                if not tag.closing:
                    titles.append(tag.attribute("title"))
                elif titles and (title := titles.pop()):
                    first = self._env["titles"].setdefault(title, (text, token.get("span")))
                    token["shows"] = f" ({title})" if first == (text, token.get("span")) else ""
            elif tag.name.lower() in STRUCK_TAGS and (close := _closing_tag(tokens, place)):
                self._env["struck"][clean(plain_text(tokens[place + 1 : close]))] = None
            elif _is_component(tag) and not any(attribute_texts(tag)):
                after = tokens[place + 1].get("tag") if place + 1 < len(tokens) else None
                if tag.self_closing or (after is not None and after.closing and after.name == tag.name):
                    token["shows"] = UNKNOWN
                    self._env["components"][tag.name] = None

    @property
    def struck(self) -> list[str]:
        """Struck-out text so far, each piece once."""
        return [text for text in self._env["struck"] if text]

    @property
    def components(self) -> list[str]:
        """Names of components so far whose content is not in the file."""
        return list(self._env["components"])

    def note_number(self, mark: str) -> int:
        """The number of the note with this mark, such as `[^a]`, in the order of reading."""
        notes = self._env["notes"]
        return int(notes.setdefault(mark, len(notes) + 1))

    @property
    def expressions(self) -> list[str]:
        """Expressions in braces so far, each once."""
        return list(self._env["expressions"])

    def take_problem(self) -> bool:
        """Return whether an unmatched brace was found in MDX since the last call."""
        return bool(self._env.pop("unclosed", False))


def _style(tokens: list[Token]) -> list[Token]:
    """Drop tokens that a tag hides; put those that classes and styles raise or lower into `sup` and `sub`."""
    if not any("tag" in token for token in tokens):
        return tokens
    result: list[Token] = []
    opened: list[tuple[str, str]] = []
    """Names of the open elements, and the kind of each: `sup`, `sub`, `hidden` or empty."""
    for token in tokens:
        tag = token.get("tag")
        hidden = any(kind == "hidden" for _, kind in opened)
        if tag is None or tag.name.lower() in VOID or tag.self_closing:
            result.append({"type": "comment", "span": token["span"]} if hidden and "span" in token else token)
            if hidden and "span" not in token:
                result[-1] = {"type": "comment"}
            continue
        if tag.closing:
            kind = next((kind for name, kind in reversed(opened) if name == tag.name), "")
            while opened and any(name == tag.name for name, _ in opened):
                if opened.pop()[0] == tag.name:
                    break
        else:
            style = tag.attribute("style")
            kind = "hidden" if is_hidden(tag) else shift_of(tag.name.lower(), tag.attribute("class").split(), style)
            opened.append((tag.name, kind))
        if hidden or kind == "hidden":
            result.append({"type": "comment", "span": token["span"]})
        else:
            result.append(token if not kind else {**token, "tag": replace(tag, name=kind)})
    return result


def _parts(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while len(text) - start > _LONGEST:
        end = start + _LONGEST
        for blank in "\n ":
            if (cut := text.rfind(blank, start, end)) > start:
                end = cut
                break
        yield start, end
        start = end
    yield start, len(text)


# What a reader sees ---------------------------------------------------------------------------------------------------

_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
MARKED = re.compile(r"`[^`\n]+`|\]\(|(?<![\w*])\*\*?\w")
"""Whether a string in an attribute may contain Markdown; in others, braces and brackets are just text."""
_FRACTION_CHARS = 8
"""Characters of source after a raised figure: enough to see whether another one is below it."""
_SHIFTED = {"raised": "sup", "lowered": "sub"}
_MARKS = {"emphasis": 1, "strong": 2}
STRUCK_TAGS = frozenset({"del", "s", "strike"})
"""Elements with text struck out by the author: a quote cannot show that, so it leaves them out."""
_NOTHING = frozenset({"null", "undefined", "true", "false"})
"""Values that React does not show."""
_VALUE = re.compile(r"\$\{([^{}]*)\}")


@dataclass(slots=True)
class Piece:
    """A stretch of visible text with the range of its inline source."""

    start: int
    """Index in the visible text."""
    begin: int
    end: int
    outer_begin: int
    outer_end: int
    """The range including the marks around it: backticks, brackets, asterisks."""
    exact: bool
    """Whether the visible characters equal those of the range, one by one."""


@dataclass(slots=True)
class Visible:
    """Visible text with its pieces."""

    text: str = ""
    pieces: list[Piece] = field(default_factory=list)
    protected: list[tuple[int, int]] = field(default_factory=list)
    """Ranges of code, maths and addresses, inside which no sentence ends."""

    def range_of(self, start: int, end: int) -> tuple[int, int]:
        """Range of the inline text for a non-empty range of the visible text, including adjacent marks."""
        first = self.pieces[bisect_right(self.pieces, start, key=attrgetter("start")) - 1]
        last_index = bisect_right(self.pieces, end - 1, key=attrgetter("start")) - 1
        last = self.pieces[last_index]
        last_end = self.pieces[last_index + 1].start if last_index + 1 < len(self.pieces) else len(self.text)
        begin = first.begin + (start - first.start if first.exact else 0)
        stop = last.begin + (end - last.start) if last.exact else last.end
        return first.outer_begin if start == first.start else begin, last.outer_end if end == last_end else stop


def _closing_tag(tokens: Sequence[Token], index: int) -> int:
    """Index of the tag that closes a raised, lowered or struck element, or a ruby's reading, at `index`; 0 if none."""
    tag = tokens[index]["tag"]
    if tag.name.lower() not in {"sup", "sub", "rt", *STRUCK_TAGS} or tag.closing:
        return 0
    depth = 0
    for place in range(index, len(tokens)):
        other = tokens[place].get("tag")
        if other is not None and other.name == tag.name:
            depth += -1 if other.closing else 1
            if not depth:
                return place
    return 0


def _is_component(tag: Tag) -> bool:
    """Whether a tag is a JSX or web component."""
    return not tag.closing and (not tag.name.islower() or "-" in tag.name) and tag.name.lower() not in HTML


def _is_note_mark(tokens: Sequence[Token]) -> bool:
    """Whether raised text is a link to a note."""
    for token in tokens:
        target = token["attrs"]["url"] if token["type"] == "link" else ""
        if token["type"] == "tag" and token["tag"].name.lower() == "a":
            target = token["tag"].attribute("href")
        if target.startswith("#") or token["type"] == "note":
            return True
    return False


def plain_text(tokens: Sequence[Token]) -> str:
    """The text of tokens without any markup, for a picture's description."""
    return "".join(
        plain_text(token["children"]) if "children" in token else unescape(token.get("raw", " "))
        for token in tokens
        if token["type"] != "tag"
    )


class Reader:
    """Puts together what a reader sees of inline tokens, piece by piece, each with its place."""

    def __init__(self, text: str, values: dict[str, str], *, attributes: bool) -> None:
        self.text = text
        self.values = values
        self.attributes = attributes
        self.parts: list[str] = []
        self.pieces: list[Piece] = []
        self.protected: list[tuple[int, int]] = []
        self.length = 0
        self.cursor = 0

    def put(self, visible: str, begin: int, end: int, *, exact: bool = False) -> None:
        """Add a stretch of visible text from a range of the source; see `Piece`."""
        if not visible:
            return
        self.pieces.append(Piece(self.length, begin, end, begin, end, exact))
        self.parts.append(visible)
        self.length += len(visible)

    def walk(self, tokens: list[Token]) -> None:
        """Read tokens in order."""
        after = 0
        for index, token in enumerate(tokens):
            if index < after:
                continue
            close = _closing_tag(tokens, index) if token["type"] == "tag" else 0
            if close and token["tag"].name.lower() in STRUCK_TAGS:
                self.cursor = max(self.cursor, tokens[close]["span"][1])
                after = close + 1
            elif close:
                self.shift(token["tag"].name.lower(), tokens[index + 1 : close], token["span"], tokens[close]["span"])
                after = close + 1
            else:
                self.token(token)

    def shift(self, name: str, inside: list[Token], opening: tuple[int, int], closing: tuple[int, int]) -> None:
        """Separate text above or below the line from the word before it, so that it is not read as part of it."""
        self.cursor = max(self.cursor, opening[0])
        inner = plain_text(inside)
        last = "".join(self.parts[-1:])
        if _is_note_mark(inside) or (name == "sup" and looks_like_note_mark(last, inner)):
            self.cursor = max(self.cursor, closing[1])
            return
        before, behind = signs_around(name, last, inner, self.text[closing[1] : closing[1] + _FRACTION_CHARS])
        if any(token.get("tag") is not None and token["tag"].name in _SHIFTED.values() for token in inside):
            before, behind = f"{before or '^_'[name == 'sub']}(", ")"
        first = len(self.pieces)
        self.put(before, *opening)
        self.cursor = max(self.cursor, opening[1])
        self.walk(inside)
        self.put(behind, *closing)
        if len(self.pieces) > first:
            self.pieces[first].outer_begin = min(opening[0], self.pieces[first].outer_begin)
            self.pieces[-1].outer_end = max(closing[1], self.pieces[-1].outer_end)
        self.cursor = max(self.cursor, closing[1])

    def token(self, token: Token) -> None:
        """Read a token that is not raised, lowered or struck out by tags."""
        kind = token["type"]
        begin, end = token.get("span", (self.cursor, self.cursor))
        if kind == "text":
            self.plain(token["raw"])
            return
        if "span" in token and "children" not in token:
            self.cursor = max(self.cursor, begin)
        if kind in {"softbreak", "linebreak"}:
            self.put("\n", begin, end)
        elif kind == "codespan":
            self.code(token["raw"], begin, end)
        elif kind == "maths":
            self.formula(token["raw"], begin, end)
        elif kind == "tag":
            self.tag(token, begin, end)
        elif kind == "expression":
            self.put(expression_text(token["raw"], self.values), begin, end)
        elif kind in _SHIFTED:
            self.shift(_SHIFTED[kind], token["children"], (begin, begin + 1), (end - 1, end))
        elif "children" in token and kind not in {"aside", "strike"}:
            self.nest(token, kind)
        if "span" in token:
            self.cursor = max(self.cursor, end)

    def nest(self, token: Token, kind: str) -> None:
        """Read what is inside emphasis, a link or a picture."""
        if kind == "image" and is_dark_address(token["attrs"]["url"]):
            return
        if kind == "image" and self.parts and not self.parts[-1][-1].isspace():
            self.put(" ", self.cursor, self.cursor)  # pictures in a row stand apart
        first, start = len(self.pieces), self.cursor
        self.walk(token["children"])
        if first == len(self.pieces):
            return
        opening, closing = self.pieces[first], self.pieces[-1]
        if kind in {"link", "image"}:
            bracket = self.text.rfind("[", start, opening.outer_begin + 1)
            if bracket >= 0:
                opening.outer_begin = bracket - (kind == "image")
            closing.outer_end = max(closing.outer_end, token["span"][1] if "span" in token else 0)
            begin = token["span"][0] if "span" in token else start
            if self.text.startswith("<", begin):
                opening.outer_begin = begin
                self.protected.append((opening.start, self.length))
        elif kind in _MARKS:
            opening.outer_begin = max(start, opening.outer_begin - _MARKS[kind])
            closing.outer_end = min(len(self.text), closing.outer_end + _MARKS[kind])

    def plain(self, raw: str) -> None:
        """Locate plain text after the cursor, where only escapes and emphasis marks can come in between."""
        done = 0
        for entity in _ENTITY.finditer(raw):
            self.letters(raw[done : entity.start()])
            at = self.text.find(entity.group(), self.cursor)
            begin = self.cursor if at < 0 else at
            stop = begin + len(entity.group())
            self.put(unescape(entity.group()), begin, stop)
            self.cursor, done = stop, entity.end()
        self.letters(raw[done:])

    def letters(self, raw: str) -> None:
        """Locate text without character references."""
        while raw:
            if self.text.startswith(raw, self.cursor):
                same = len(raw)
            else:
                same = len(commonprefix([raw, self.text[self.cursor : self.cursor + len(raw)]]))  # noqa: RUF071 - letters
            if same:
                self.put(raw[:same], self.cursor, self.cursor + same, exact=True)
                self.cursor += same
                raw = raw[same:]
                continue
            place = self.text.find(raw[0], self.cursor)
            if place < 0:
                self.put(raw, self.cursor, self.cursor)
                return
            self.cursor = place

    def code(self, raw: str, begin: int, end: int) -> None:
        """Read code between backticks."""
        marks = 0
        while self.text.startswith("`", begin + marks):
            marks += 1
        inner = begin + marks
        if len(raw) < end - begin - 2 * marks:
            inner += 1
        self.protected.append((self.length, self.length + len(raw)))
        self.put(raw, inner, inner + len(raw), exact=True)
        if raw:
            self.pieces[-1].outer_begin, self.pieces[-1].outer_end = begin, end

    def formula(self, raw: str, begin: int, end: int) -> None:
        """Read a formula; its text has dollar signs."""
        exact = self.text.startswith("$", begin)
        text = self.text[begin:end] if exact else f"${raw}$"
        self.protected.append((self.length, self.length + len(text)))
        self.put(text, begin, end, exact=exact)

    def tag(self, token: Token, begin: int, end: int) -> None:
        """Read a tag: the blank, the quotation mark or the texts that it shows."""
        tag = token["tag"]
        self.put(token.get("shows", ""), begin, end)
        if tag.name.lower() == "q":
            self.put('"', begin, end)
        if tag.name.lower() in INLINE - {"wbr"}:
            return
        # Cells, items and components are separate on the page even if adjacent in the file.
        is_html = tag.name.lower() in HTML and "shows" not in token
        if tag.name.lower() != "wbr" and (is_html or not self.touches_word(begin, end)):
            self.put(" ", begin, end)
        for item in tag.attributes if self.attributes else ():
            value = item.value
            if item.expression:
                literal = literal_of(item.value or "")
                value = literal[0] if literal else None
            if value and is_shown(tag.name, item.name, value):
                self.put(f" {value} ", begin, end)

    def touches_word(self, begin: int, end: int) -> bool:
        """Whether a range stands within a word."""
        return begin > 0 and self.text[begin - 1].isalnum() and self.text[end : end + 1].isalnum()


def expression_text(raw: str, values: dict[str, str]) -> str:
    """The visible result of an expression in braces: a string, a number, a known name, or its alternative strings.

    >>> expression_text("`v${major}.2`", {"major": "3"}), expression_text("null", {}), expression_text("f(x)", {})
    ('v3.2', '', '[\u2026]')
    """
    literal = literal_of(raw)
    if literal is not None:
        return literal[0]
    bare = raw.strip()
    if not bare or bare in _NOTHING or bare[0] in ":#" or is_comment(raw):
        return ""  # attributes of Kramdown and ids show nothing either
    if bare[0] == "`" and skip_literal(bare, 0, len(bare)) == len(bare):
        return _VALUE.sub(lambda value: values.get(value[1].strip(), UNKNOWN), unquote(bare))
    text = bare if _NUMBER.fullmatch(bare) else values.get(bare) or " / ".join(shown_literals(bare))
    return text or UNKNOWN


def anchor_text(tokens: list[Token]) -> str:
    """The text of a heading from which Docusaurus makes its fragment.

    As `mdast-util-to-string` puts it together: expressions as they are written, of tags only what is between them.
    """
    parts = []
    for token in tokens:
        if token["type"] in {"softbreak", "linebreak"}:
            parts.append(" ")
        elif "children" in token:
            parts.append(anchor_text(token["children"]))
        elif token["type"] == "text":
            parts.append(_ENTITY.sub(lambda entity: unescape(entity.group()), token["raw"]))
        else:
            parts.append(token.get("raw", ""))
    return "".join(parts)


def without_marks(text: str, inline: Inline) -> str:
    """The visible text of a string that a component shows, which may contain Markdown's marks."""
    return read_visible(text, inline.tokens(text), {}).text if MARKED.search(text) else text


def read_visible(text: str, tokens: list[Token], values: dict[str, str], *, attributes: bool = True) -> Visible:
    """Put together what a reader sees; `attributes`: texts in those of components count (not in headings)."""
    reader = Reader(text, values, attributes=attributes)
    reader.walk(tokens)
    return Visible("".join(reader.parts), reader.pieces, reader.protected)
