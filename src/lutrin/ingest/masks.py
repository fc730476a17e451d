"""Masks template and note-program markup in Markdown in place: shortcodes, tags, macros, comments, wiki links.

Markup that a site generator or an editor replaces or hides is overwritten with invisible characters, one for one, and
words inside keep their places. So every offset still matches the file, and one parser reads the rest.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from lutrin.ingest.makers import BOXES, HOLDERS, KINDS, STRONGEST, TEMPLATES
from lutrin.ingest.placed_text import line_ranges
from lutrin.ingest.wording import UNKNOWN

FILLER = "\u2060"
"""Word joiner: neither joins nor separates words, and is invisible."""
_FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+)?(`{3,}|~{3,})([^`\r\n]*)")
_CODE = re.compile(r"(?<!`)(`+)(?!`).{1,4000}?(?<!`)\1(?!`)", re.DOTALL)
_TAG = re.compile(
    r"\{\{(?P<hugo>[<%])-?\s*+(?P<close>/?)(?P<name>[\w./-]++)(?P<rest>[^{}\n]{0,1000}?)/?[>%]\}\}"
    r"|\{%-?\s*+(?P<liquid>\w[\w-]*+)(?P<parameters>[^%\n]{0,1000}?)-?%\}"
    r"|\{\{\s*+(?P<macro>[A-Za-z_]\w*+)\s*+(?:\((?P<arguments>[^{}\n]{0,500})\))?\s*+\}\}"
    r"|\{\{-?[ \t]{0,99}(?P<value>[\w.\-| '\"()\[\],]{1,200})\}\}"
)
_ARGUMENT = re.compile(
    r"(?:(?P<key>[\w-]+)\s*[=:]\s*)?(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<bare>[^\s,\"'=]+))"
)
_WIKI = re.compile(
    r"(?<![\\\w])(?P<embed>!?)\[\[(?P<target>[^\[\]|\n]{1,300})(?:\\?\|(?P<alias>[^\[\]\n]{1,300}))?\]\](?![(\[:])"
)
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|avif|bmp|mp[34]|webm|ogg|wav)\s*\Z", re.IGNORECASE)
_LATEX = re.compile(
    r"^[ \t]*\\begin\{(tabular\*?|longtable|tikzpicture)\}.{0,20000}?\\end\{\1\}[ \t]*$", re.MULTILINE | re.DOTALL
)
_HIDDEN = (
    re.compile(r"%%(?!%)(?:[^%]|%(?!%)){0,20000}%%"),
    re.compile(r"^ {0,3}(?:\[TOC\]|\[\[_?TOC_?\]\])[ \t]*$", re.MULTILINE | re.IGNORECASE),  # a list of headings
    re.compile(
        r"\{%-?\s{0,9}comment\s{0,9}-?%\}(?:[^{]|\{(?!%-?\s{0,9}(?:end)?comment\b)){0,20000}+"
        r"\{%-?\s{0,9}endcomment\s{0,9}-?%\}"
    ),
    re.compile(r"^\+{3}[ \t]*\r?$", re.MULTILINE),  # between cells
    re.compile(r"[ \t]\^[A-Za-z0-9-]+[ \t]*$", re.MULTILINE),  # the name of a block
    re.compile(r"^ {0,3}(?:#[A-Za-z][\w/-]*[ \t]*)+$", re.MULTILINE),  # tags of a note
    re.compile(r"^[ \t]*\\(?:newpage|pagebreak|clearpage|v?hfill|vspace\{[^{}]*\})[ \t]*$", re.MULTILINE),
    _LATEX,
    # A placeholder that Kramdown replaces by a list of headings, and attributes of a table.
    re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+[^\n]{0,200}\n[ \t]*\{:[ \t]*toc[^{}\n]*\}[ \t]*$", re.MULTILINE),
    re.compile(r"(?<=\|\n)[ \t]*\{:[^{}\n]*\}[ \t]*$", re.MULTILINE),
)
"""Markup invisible to readers."""
_MARKS = (
    re.compile(r"(?<![=\w])(==)(?=[^\s=])[^=\n]{0,500}[^\s=](==)(?![=\w])"),
    re.compile(r"(?<![\w^])(\^\^)(?=[^\s^])[^^\n]{0,500}[^\s^](\^\^)(?![\w^])"),
    re.compile(r"(?<![\w+])(\+\+)(?=[\w-])[\w-]+(?:\+[\w-]+)*(\+\+)(?![\w+])"),  # keys to press (PyMdown)
    re.compile(r"^(?:[-*+][ \t]+)?[A-Za-z][\w -]{0,40}:(:)(?=[ \t]+\S)", re.MULTILINE),
    # The label of a displayed formula in Quarto.
    re.compile(r"^(?:[^$\n]{0,500}|[ \t>]*\$\$[^$\n]{0,500})\$\$([ \t]+\{#[\w:.-]+\})[ \t]*$", re.MULTILINE),
)
"""Marks around words, which stay; the groups are the marks."""
_EXAMPLE = re.compile(r"\(@([\w-]*)\)")
_EXAMPLES = re.compile(r"^\(@[\w-]*\)[ \t]", re.MULTILINE)
_OPENING = re.compile(r"[ \t>]*+(?:[-*+]|\d{1,9}[.)])?[ \t]*+")
_CLOSERS = re.compile(r"\{\{[<%]\s*+/\s*+([\w./-]++)[^{}\n]*+\}\}|\{%-?\s*+end(\w[\w-]*+)[^%\n]*+%\}")
_LINES = re.compile(r"(?:^\|[ \t][^|\n]*(?:\n|\Z))+", re.MULTILINE)
_BARS = re.compile(r"^(\|)[ \t]", re.MULTILINE)
_COMPUTED = re.compile(r"\{(?:r|python|julia|ojs|sql)\}[ \t]")
_COMPUTED_BY_KNITR = re.compile(r"(?:\{(?:r|python|julia|ojs|sql)\}|r)[ \t]")
_TABS = {"tabs": "tabs", "tabpane": "tabs", "tab": "tab"}
_CODE_TAGS = frozenset({"highlight", "code-highlight"})

Edit = tuple[int, int, str]
Problem = Callable[[int, str], None]


class _Argument(NamedTuple):
    """An argument of a tag, and its position."""

    key: str | None
    text: str
    start: int
    end: int
    bare: bool


def mask(source: str, start: int, values: Mapping[str, str], problem: Problem, *, computed: bool = False) -> str:
    """A Markdown page of the same length, without template marks from `start`.

    Args:
        computed: Whether inline code may be a value computed by knitr: `` `r mean(x)` ``.
    """
    masker = _Masker(source, values, _COMPUTED_BY_KNITR if computed else _COMPUTED)
    for begin, end in _stretches(source, start):
        masker.stretch(begin, end)
    if masker.unknown:
        offset, name = masker.unknown[0]
        more = f" and {len(masker.unknown) - 1} more" if len(masker.unknown) > 1 else ""
        problem(offset, f"the value of {name}{more} is not known; {UNKNOWN} stands in its place")
    if masker.embedded:
        names = ", ".join(name for _, name in masker.embedded)
        problem(masker.embedded[0][0], f"what is embedded is not read: {names}")
    for offset, name in masker.latex:
        problem(offset, f"a {name} of LaTeX is left out")
    return masker.result()


def _stretches(source: str, start: int) -> Iterator[tuple[int, int]]:
    """The parts of a page outside fenced code."""
    fence, begin = "", start
    for line_start, line_end in line_ranges(source):
        if line_end <= start:
            continue
        match = _FENCE.match(source, line_start, line_end)
        if match is None:
            continue
        if not fence:
            fence = match[1]
            yield begin, line_start
        elif match[1].startswith(fence) and not match[2].strip():
            fence, begin = "", line_end
    if not fence:
        yield begin, len(source)


class _Masker:
    def __init__(self, source: str, values: Mapping[str, str], computed: re.Pattern[str]) -> None:
        self.source = source
        self.computed = computed
        self.values = values
        self.edits: list[Edit] = []
        self.unknown: list[tuple[int, str]] = []
        self.examples: dict[str, int] = {}
        self.latex: list[tuple[int, str]] = []
        self.embedded: list[tuple[int, str]] = []
        self.raw = False
        self.closers: dict[str, list[tuple[int, int]]] = {}
        for match in _CLOSERS.finditer(source):
            self.closers.setdefault(match[1] or match[2], []).append(match.span())
        self.open_boxes: Counter[str] = Counter()
        self.has_examples = _EXAMPLES.search(source) is not None

    def stretch(self, begin: int, end: int) -> None:
        """Collect the edits of a part without fences."""
        code = [match.span() for match in _CODE.finditer(self.source, begin, end)]
        edits: list[Edit] = []
        if "{" in self.source[begin:end]:
            edits += [edit for match in _TAG.finditer(self.source, begin, end) for edit in self.template(match)]
        for pattern in _HIDDEN:
            edits += [(*match.span(), "") for match in pattern.finditer(self.source, begin, end)]
        self.latex += [(match.start(), match[1]) for match in _LATEX.finditer(self.source, begin, end)]
        for match in _WIKI.finditer(self.source, begin, end):
            edits += self.link(match)
        for pattern in _MARKS:
            for match in pattern.finditer(self.source, begin, end):
                edits += [(*match.span(group), "") for group in range(1, len(match.groups()) + 1)]
        for match in _EXAMPLE.finditer(self.source, begin, end) if self.has_examples else ():
            number = self.examples.setdefault(match[1] or f"@{match.start()}", len(self.examples) + 1)
            edits.append((*match.span(), f"({number})" if len(f"({number})") <= len(match[0]) else ""))
        for match in _LINES.finditer(self.source, begin, end):
            if match[0].count("\n") and not match[0].startswith("|:"):
                edits += [(*bar.span(1), "") for bar in _BARS.finditer(self.source, *match.span())]
        self.edits += [edit for edit in edits if not any(a <= edit[0] < b for a, b in code)]
        for a, b in code:
            inside = self.source[a:b].strip("`")
            if self.computed.match(inside):
                self.edits += self.unknown_value(a, b, f"`{inside}`")

    def link(self, match: re.Match[str]) -> list[Edit]:
        """Reduce `[[target|text]]` to its visible part: the text, or the target's last part."""
        if match["embed"]:
            if not _PICTURE.search(match["target"]):
                self.embedded.append((match.start(), match["target"]))
            return [(*match.span(), "")]
        if match["target"].strip().isdigit():
            return []
        group = "alias" if match["alias"] else "target"
        begin, stop = match.span(group)
        if group == "target":
            begin += match["target"].rfind("#") + 1
            begin += 1 if self.source.startswith("^", begin) else 0
        return [(match.start(), begin, ""), (stop, match.end(), "")]

    def template(self, match: re.Match[str]) -> list[Edit]:
        """Replace a shortcode, tag, macro or value."""
        if match["liquid"] or (match["hugo"] and not self.raw):
            return self.tag(match)
        if self.raw:
            return []
        if match["macro"] and match["arguments"] is not None:
            return self.words(match, "arguments", last=True)
        if match["macro"] and _is_alone(self.source, *match.span()):
            return [(*match.span(), "")]
        return self.value(match, (match["macro"] or match["value"]).strip())

    def value(self, match: re.Match[str], name: str) -> list[Edit]:
        value = self.values.get(name.removeprefix("page.").removeprefix("$frontmatter."), "")
        if value and len(value) <= len(match[0]):
            return [(*match.span(), value)]
        return self.unknown_value(*match.span(), match[0].strip())

    def unknown_value(self, begin: int, end: int, text: str) -> list[Edit]:
        self.unknown.append((begin, text))
        return [(begin, end, UNKNOWN)]

    def arguments(self, match: re.Match[str], group: str) -> list[_Argument]:
        matches = _ARGUMENT.finditer(self.source, *match.span(group))
        return [
            _Argument(item["key"], item[kind], *item.span(kind), bare=kind == "bare")
            for item in matches
            if (kind := item.lastgroup or "")
        ]

    def tag(self, match: re.Match[str]) -> list[Edit]:
        """Replace a shortcode of Hugo, or a tag of Liquid, Nunjucks or GitBook."""
        hugo = match["hugo"] is not None
        written, group = (match["name"], "rest") if hugo else (match["liquid"], "parameters")
        name, span = written.rpartition("/")[2].lower(), match.span()
        if not hugo and name.startswith("include"):
            return self.inclusion(match)
        if not hugo and name in {"raw", "endraw", "verbatim", "endverbatim"}:
            self.raw = not name.startswith("end")
            return [(*span, "")]
        if self.raw:
            return []
        if match["close"] or (not hugo and name.startswith("end")):
            return [(*span, self.end_of(name if hugo else name.removeprefix("end")))]
        words = match[group].split()
        if name in _CODE_TAGS:
            language = words[0].strip("\"',") if words else ""
            return [(*span, f"```{language}"[: len(match[0])])]
        if hugo and name in TEMPLATES["values"]:
            arguments = self.arguments(match, group)
            return self.value(match, arguments[0].text if arguments else name)
        if written in self.closers and (box := self.box(match, written, group)):
            return box
        if hugo and name in {"kbd", "key", "keys"} and words:
            begin = self.source.index(words[0], match.start(group))
            return [(span[0], begin, ""), (begin + len(words[0]), span[1], "")]
        if name in TEMPLATES["addresses" if hugo else "unseen"]:
            return [(*span, "")]
        return self.words(match, group, keyed=not hugo)

    def end_of(self, name: str) -> str:
        """The mark that closes a tag of that name."""
        if not self.open_boxes[name]:
            parts = name in BOXES or name in HOLDERS or name in _TABS or name in TEMPLATES["folds"]
            return "```" if name in _CODE_TAGS else " " if parts else ""
        self.open_boxes[name] -= 1
        return ":::"

    def inclusion(self, match: re.Match[str]) -> list[Edit]:
        """Keep the words passed to a file of a theme, such as `warning.html content="Mind the gap."`."""
        words = self.words(match, "parameters", keyed=True)
        if len(words) < 2:
            return []  # it is named where blocks are settled
        (start, begin, _), end = words
        stem = match["parameters"].split()[0].rpartition("/")[2].partition(".")[0].lower()
        label = f"> {stem.capitalize()}: "
        fits = BOXES.get(stem) in STRONGEST and len(label) <= begin - start and _is_alone(self.source, *match.span())
        return [(start, begin, label if fits else ""), end]

    def box(self, match: re.Match[str], written: str, group: str) -> list[Edit]:
        """Rewrite the first line of a box as a directive with its title in place."""
        name = written.rpartition("/")[2].lower()
        arguments = self.arguments(match, group)
        kind = BOXES.get(name, "") or _TABS.get(name, "") or ("details" if name in TEMPLATES["folds"] else "")
        if name in HOLDERS:
            kinds = [item.text.lower() for item in arguments if (item.key or "type").lower() in KINDS]
            kind = next((BOXES[word] for word in kinds if word in BOXES), kind or "note")
        if not kind:
            return []
        # An argument that is not a kind of box is its title.
        plain = [item for item in arguments if item.key is None]
        if kind not in {"tab", "details"}:
            plain = [item for item in plain if not item.bare and item.text.lower() not in BOXES]
        title = next((item for item in arguments if item.key in TEMPLATES["words"]), next(iter(plain), None))
        title = title if title is not None and title.text.strip() else None
        start, end = match.span()
        begin, stop = (title.start, title.end) if title is not None else (end, end)
        closers = self.closers[written]
        place = bisect_left(closers, match.span())
        if not (
            place < len(closers) and _is_alone(self.source, start, end) and _is_alone(self.source, *closers[place])
        ):
            # It shares a line with its text, and begins with its kind, if that is a warning, and its title.
            lead = f"> {kind.capitalize()}: " if kind in STRONGEST else ""
            before = self.source[self.source.rfind("\n", 0, start) + 1 : start]
            fits = len(lead) <= begin - start and not before.strip()
            return [(start, begin, lead if fits else ""), (stop, end, ": ")]
        self.open_boxes[name] += 1
        opening = f":::{kind} "
        if title is None or begin - start < len(opening):
            return [(start, end, opening[: end - start].rstrip())]
        return [(start, begin, opening), (stop, end, " ")]

    def words(self, match: re.Match[str], group: str, *, last: bool = False, keyed: bool = False) -> list[Edit]:
        """Keep only the visible words of a shortcode or macro."""
        arguments = [item for item in self.arguments(match, group) if item.text.strip()]
        plain = [item for item in arguments if item.key is None and not item.bare and not keyed]
        argument = next((item for item in arguments if item.key in TEMPLATES["words"]), None)
        if argument is None and plain and not re.match(r"https?:|[\w./-]*/", plain[-1].text):
            argument = plain[min(1, len(plain) - 1)] if last else plain[0]
        if argument is None:
            return [(*match.span(), "")]
        return [(match.start(), argument.start, ""), (argument.end, match.end(), "")]

    def result(self) -> str:
        """The source with all edits applied."""
        parts: list[str] = []
        done = 0
        for begin, end, text in sorted(self.edits, key=lambda edit: (edit[0], -edit[1])):
            if begin < done or begin == end:
                continue
            parts += [self.source[done:begin], _fill(self.source, begin, end, text)]
            done = end
        parts.append(self.source[done:])
        masked = "".join(parts)
        if FILLER in masked and FILLER not in self.source:
            masked = _BLANKED.sub(lambda line: " " * len(line[0]), masked)
        return masked


_BLANKED = re.compile(rf"^[ \t]*+{FILLER}[ \t{FILLER}]*+$", re.MULTILINE)


def _fill(source: str, begin: int, end: int, text: str) -> str:
    """A replacement of the same length that keeps line ends."""
    rest = source[begin + len(text) : end]
    line = source[source.rfind("\n", 0, begin) + 1 : begin]
    before = source[begin - 1 : begin] in {" ", "\t"} and _OPENING.fullmatch(line) is None
    apart = True if text.endswith(" ") else before if not text else source[end : end + 1] in {"", " ", "\t", "\r", "\n"}
    filler = " " if apart else FILLER
    return text + "".join(c if c in "\r\n" else filler for c in rest)


def _is_alone(source: str, begin: int, end: int) -> bool:
    """Whether the line contains nothing else."""
    stop = source.find("\n", end)
    rest = source[source.rfind("\n", 0, begin) + 1 : begin] + source[end : stop if stop >= 0 else None]
    return not rest.strip()


def values_of(front: Mapping[str, object]) -> dict[str, str]:
    """Values of a front matter that a page may show, by name."""
    return {name: str(value) for name, value in front.items() if isinstance(value, str | int | float)}
