"""The inline content of a paragraph: mistune's inline parser, extended by MDX, and the visible text with its places.

mistune's tokens have no positions. Here each token that is not plain text gets the range that its rule matched. Plain
text is located between those ranges, where only escapes and emphasis marks can precede it.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

import mistune
from mistune.core import InlineState

from lutrin.ingest.blocks import References
from lutrin.ingest.dialects import ATTRIBUTES, LIQUID
from lutrin.ingest.mdx_lines import is_tag
from lutrin.ingest.script import VOID, scan_braces, scan_tag
from lutrin.ingest.styles import are_hiding, shift_of
from lutrin.ingest.tree import is_dark_twin, is_hidden

Token = dict[str, Any]
"""A token of mistune: `type`, `raw` or `children`, `attrs`; here also `span`, its range in the text."""

# mistune's time grows with the square of the number of marks in a text, so longer texts are cut at white space.
_LONGEST = 16_000
_NESTING = 20  # elements within each other; deeper ones stay text
# MyST's roles that link to something, written as a text, a space and the target in angle brackets.
_REFERENCES = frozenset("ref numref doc term eq any download cite keyword option envvar".split())
# The description of a picture that Pandoc's authors put into its attributes.
_ALT = re.compile(r"\balt=(?:\"(?P<double>[^\"]+)\"|'(?P<single>[^']+)')")
_TEX = re.compile(r"\\[A-Za-z]{2,}|[_^][\w{]|[=<>]")
_STRUCK = re.compile(r"[^~\n]*[^\s~](~)(?![\w~])")
_TARGET = re.compile(r"`([^`<>]*[^`<>\s])\s+<[^`<>]*>`")
_BRACKET = re.compile(r"(?<!\\)[\[\]]")
_LONGEST_NOTE = 4_000
# Characters of a page that may be scanned in vain for the end of a tag or brace; after that the rest is text.
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

    def inside(self, start: int, end: int) -> "_State":
        """The state of what stands between two places of this one's text."""
        state = self.copy()
        state.base, state.src = self.base + start, self.src[start:end]
        return state


class _Parser(mistune.InlineParser):
    state_cls = _State

    def __init__(self) -> None:
        super().__init__(max_nested_level=_NESTING)
        self.rules.remove("inline_html")
        self.register("tag", r"<(?=[A-Za-z/>!?])", _parse_tag, before="linebreak", start_chars="<")
        self.register("expression", r"\{", _parse_expression, before="linebreak", start_chars="{")
        self.register("maths", r"\${1,2}(?!\$)", _parse_maths, before="linebreak", start_chars="$")
        self.register("strike", r"~~(?=[^\s~])", _parse_strike, before="linebreak", start_chars="~")
        self.register("struck", r"(?<![\w~])~(?=[^\s~/])", _parse_struck, before="linebreak", start_chars="~")
        self.register("paren_maths", r"\\\\[(\[]", _parse_paren_maths, before="escape", start_chars="\\")
        self.register("tex_maths", r"\\[(\[]", _parse_tex_maths, before="escape", start_chars="\\")
        self.register("span", r"\[(?!\^)(?=[^\[\]\n]{1,200}\]\{)", _parse_span, before="link", start_chars="[")
        self.register(
            "raised", r"(?<=[\w)\]])\^[-+\u2212]?\w{1,20}\^(?!\w)", _parse_shifted, before="link", start_chars="^"
        )
        self.register(
            "lowered", r"(?<=[A-Za-z)\]])~[-+\u2212]?\w{1,20}~(?!~)", _parse_shifted, before="struck", start_chars="~"
        )
        self.register("aside", r"\^\[", _parse_aside, before="link", start_chars="^")
        self.register("footnote", r"\[\^[^\s\]]{1,100}\](?!\()", _parse_footnote, before="link", start_chars="[")

    def parse_method(self, m: Any, state: Any) -> int | None:  # noqa: ANN401 - as mistune declares it
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


def _parse_tag(_inline: mistune.InlineParser, m: Any, state: Any) -> int | None:  # noqa: ANN401 - a rule of mistune's
    start, src = m.start(), state.src
    if src.startswith("<!--", start):
        close = state.delimiters.find("-->", start + 4)
        if close is None:
            return None
        state.append_token({"type": "comment"})
        return int(close) + 3
    if src.startswith(("<!", "<?"), start):
        close = state.delimiters.find(">", start)
        if close is None or state.mdx:
            return None
        state.append_token({"type": "comment"})
        return int(close) + 1
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
        return int(stop) or len(src)
    state.append_token({"type": "comment"} if is_dark_twin(tag) else {"type": "tag", "tag": tag})
    return tag.end


def _parse_expression(_inline: mistune.InlineParser, m: Any, state: Any) -> int | None:  # noqa: ANN401 - a rule of mistune's
    start = m.start()
    if not state.mdx and not state.src.startswith("{/*", start):
        return None if state.env["plain"] else _parse_unseen(start, state) or _parse_role(start, state)
    end = scan_braces(state.src, start) if state.env["patience"] >= 0 else None
    if end is None:
        state.env["patience"] -= len(state.src) - start
        state.env["unclosed"] = state.mdx
        return None
    state.append_token({"type": "expression", "raw": state.src[start + 1 : end - 1]})
    state.env["expressions"][state.src[start + 1 : end - 1]] = None
    return end


def _parse_unseen(start: int, state: Any) -> int | None:  # noqa: ANN401 - mistune's state
    """Parse markup that no reader sees: attributes after an element, and tags that a site generator replaces."""
    match = LIQUID.match(state.src, start)
    if match is None and start and state.src[start - 1] in (")]`*_" if state.src.startswith("{:", start) else ")]`"):
        match = ATTRIBUTES.match(state.src, start)
    if match is None:
        return None
    last = state.tokens[-1] if state.tokens else {}
    described = _ALT.search(state.src, start, match.end())
    if described and last.get("type") == "image" and not last["children"]:
        group = described.lastgroup or 0
        place = (state.base + described.start(group), state.base + described.end(group))
        last["children"] = [{"type": "codespan", "raw": described[group], "span": place}]
    state.append_token({"type": "comment"})
    return int(match.end())


def _parse_span(inline: mistune.InlineParser, m: Any, state: Any) -> int | None:  # noqa: ANN401 - a rule of mistune's
    """Parse Pandoc's `[text]{#id .class}`, of which only the text is visible."""
    close = state.src.index("]{", m.end())
    attributes = ATTRIBUTES.match(state.src, close + 1)
    if state.mdx or attributes is None or state.depth >= inline.max_nested_level:
        return None
    if are_hiding(attributes.group()):
        state.append_token({"type": "comment"})
    else:
        inner = state.inside(m.end(), close)
        state.append_token({"type": "span", "children": inline.render(inner), "raw": attributes.group()})
    return int(attributes.end())


def _parse_paren_maths(_inline: mistune.InlineParser, m: Any, state: Any) -> int | None:  # noqa: ANN401 - a rule of mistune's
    r"""`\\(x\\)` and `\\[x\\]`, of which Markdown makes what MathJax looks for."""
    close = state.src.find("\\\\" + (")" if m.group(0).endswith("(") else "]"), m.end())
    if state.env["plain"] or close < 0 or not state.src[m.end() : close].strip():
        return None
    state.append_token({"type": "maths", "raw": state.src[m.end() : close].strip()})
    return int(close) + 3


def _parse_tex_maths(_inline: mistune.InlineParser, m: Any, state: Any) -> int | None:  # noqa: ANN401 - a rule of mistune's
    r"""`\(x^2\)` and `\[x^2\]` as TeX writes them; brackets that are only escaped hold nothing of TeX."""
    close = state.src.find("\\" + (")" if m.group(0).endswith("(") else "]"), m.end())
    if state.mdx or state.env["plain"] or close < 0 or _TEX.search(state.src, m.end(), close) is None:
        state.append_token({"type": "text", "raw": m.group(0)[1]})
        return int(m.end())
    state.append_token({"type": "maths", "raw": state.src[m.end() : close].strip()})
    return int(close) + 2


def _parse_role(start: int, state: Any) -> int | None:  # noqa: ANN401 - mistune's state
    """MyST writes ``{kbd}`Ctrl` ``: the role is markup, the code span behind it is text, its target is not."""
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


def _parse_maths(_inline: mistune.InlineParser, m: Any, state: Any) -> int | None:  # noqa: ANN401 - a rule of mistune's
    """`$x$` is maths; `$1.50 and $2` is not: no blank inside the dollars, no digit behind the closing one."""
    mark, src, start = m.group(0), state.src, m.end()
    close = src.find(mark, start)
    while close > 0 and src[close - 1] == "\\":
        close = src.find(mark, close + 1)
    if close <= start:
        return None
    body = src[start:close]
    if len(mark) == 1 and (
        "`" in body or body[0].isspace() or body[-1].isspace() or src[close + 1 : close + 2].isdigit()
    ):
        return None
    state.append_token({"type": "maths", "raw": body})
    return int(close) + len(mark)


def _parse_strike(inline: mistune.InlineParser, m: Any, state: Any) -> int | None:  # noqa: ANN401 - a rule of mistune's
    if state.depth >= inline.max_nested_level:
        return None
    close = state.delimiters.find("~~", m.end(), formatting=True)
    if close is None:
        return None
    inner = state.inside(m.end(), close)
    state.append_token({"type": "strike", "children": inline.render(inner)})
    return int(close) + 2


def _parse_struck(inline: mistune.InlineParser, m: Any, state: Any) -> int | None:  # noqa: ANN401 - a rule of mistune's
    """GitHub's `~text~`; `~5 kg` and `~/arm` are text."""
    closing = _STRUCK.match(state.src, m.end()) if state.depth < inline.max_nested_level else None
    if closing is None:
        return None
    inner = state.inside(m.end(), closing.start(1))
    state.append_token({"type": "strike", "children": inline.render(inner)})
    return int(closing.end())


def _parse_footnote(_inline: mistune.InlineParser, m: Any, state: Any) -> int | None:  # noqa: ANN401 - a rule of mistune's
    notes = state.env["notes"]
    defines = m.start() == 0 and state.src.startswith(":", m.end())
    number = notes.setdefault(m.group(0), len(notes) + 1)
    state.append_token({"type": "note", "number": number, "defines": defines})
    return int(m.end()) + int(defines)


def _parse_aside(inline: mistune.InlineParser, m: Any, state: Any) -> int | None:  # noqa: ANN401 - a rule of mistune's
    """Parse Pandoc's `^[note]`, whose text stands apart from the sentence."""
    close = _closing_bracket(state.src, m.end())
    if close is None or state.mdx or state.depth >= inline.max_nested_level:
        return None
    inner = state.inside(m.end(), close)
    notes = state.env["notes"]
    number = notes.setdefault((state.base + m.start(), inner.src), len(notes) + 1)
    state.append_token({"type": "aside", "children": inline.render(inner), "number": number, "raw": inner.src})
    return close + 1


def _closing_bracket(text: str, start: int) -> int | None:
    depth = 1
    for match in _BRACKET.finditer(text, start, start + _LONGEST_NOTE):
        depth += 1 if match.group() == "[" else -1
        if not depth:
            return match.start()
    return None


def _parse_shifted(inline: mistune.InlineParser, m: Any, state: Any) -> int | None:  # noqa: ANN401 - a rule of mistune's
    """Pandoc's `10^9^` and `H~2~O`."""
    if state.mdx or state.depth >= inline.max_nested_level:
        return None
    inner = state.inside(m.start() + 1, m.end() - 1)
    kind = "raised" if m.group(0).startswith("^") else "lowered"
    state.append_token({"type": kind, "children": inline.render(inner)})
    return int(m.end())


@lru_cache(maxsize=1)
def _parser() -> _Parser:
    return _Parser()


class Inline:
    """Parses the inline content of one page; if `plain` (brought into Markdown), a backslash only escapes."""

    def __init__(self, source: str, references: References, *, mdx: bool, plain: bool = False) -> None:
        self._env: dict[str, Any] = {
            "ref_links": references,
            "source": source,
            "tags": {},
            "notes": {},
            "patience": _PATIENCE,
            "plain": plain,
            "expressions": {},
        }
        self._mdx = mdx

    def tokens(self, text: str) -> list[Token]:
        """Return the inline tokens of a paragraph, heading or table cell; all but plain text have a `span`."""
        tokens: list[Token] = []
        for start, end in _parts(text):
            state = _State(self._env)
            state.src, state.base, state.mdx = text[start:end], start, self._mdx
            tokens += _parser().render(state)
        return _style(tokens)

    @property
    def expressions(self) -> list[str]:
        """What stood in braces in the texts so far, each once."""
        return list(self._env["expressions"])

    def take_problem(self) -> bool:
        """Return whether an unmatched brace was found in MDX since the last call."""
        return bool(self._env.pop("unclosed", False))


def _style(tokens: list[Token]) -> list[Token]:
    """Tokens without what a tag hides; what classes and styles raise or lower is in `sup` and `sub`."""
    if not any("tag" in token for token in tokens):
        return tokens
    found: list[Token] = []
    opened: list[tuple[str, str]] = []
    """Names of the elements that are open, and what each is: `sup`, `sub`, `hidden` or nothing."""
    for token in tokens:
        tag = token.get("tag")
        hidden = any(kind == "hidden" for _, kind in opened)
        if tag is None or tag.name.lower() in VOID or tag.self_closing:
            found.append({"type": "comment", "span": token["span"]} if hidden and "span" in token else token)
            if hidden and "span" not in token:
                found[-1] = {"type": "comment"}
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
            found.append({"type": "comment", "span": token["span"]})
        else:
            found.append(token if not kind else {**token, "tag": replace(tag, name=kind)})
    return found


def _parts(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while len(text) - start > _LONGEST:
        end = start + _LONGEST
        for blank in "\n ":
            if (found := text.rfind(blank, start, end)) > start:
                end = found
                break
        yield start, end
        start = end
    yield start, len(text)
