"""Marks of templates and note programs, taken out of Markdown in place: shortcodes, tags, macros, comments, wiki links.

Whatever a site generator or an editor replaces or hides is overwritten with characters that no reader sees, one for
one, and words inside stay where they are. So every offset still holds in the file, and one parser reads what is left.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from lutrin.ingest.makers import BOXES, HOLDERS, KINDS, STRONGEST
from lutrin.ingest.placed import line_ranges
from lutrin.ingest.wording import UNKNOWN

FILLER = "\u2060"
"""Word joiner: no blank, so that a mask joins no words and parts none, and no reader sees it."""
_FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+)?(`{3,}|~{3,})([^`\r\n]*)")
_CODE = re.compile(r"(?<!`)(`+)(?!`).{1,4000}?(?<!`)\1(?!`)", re.DOTALL)
_TAG = re.compile(
    r"\{\{(?P<hugo>[<%])-?\s*(?P<close>/?)(?P<name>[\w./-]+)(?P<rest>[^{}\n]{0,1000}?)/?[>%]\}\}"
    r"|\{%-?\s*(?P<liquid>\w[\w-]*)(?P<given>[^%\n]{0,1000}?)-?%\}"
    r"|\{\{\s*(?P<macro>[A-Za-z_]\w*)\s*(?:\((?P<arguments>[^{}\n]{0,500})\))?\s*\}\}"
    r"|\{\{-?[ \t]*(?P<value>[\w.\-| '\"()\[\],]{1,200})\}\}"
)
_ARGUMENT = re.compile(
    r"(?:(?P<key>[\w-]+)\s*[=:]\s*)?(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<bare>[^\s,\"'=]+))"
)
_WIKI = re.compile(
    r"(?<![\\\w])(?P<embed>!?)\[\[(?P<target>[^\[\]|\n]{1,300})(?:\\?\|(?P<alias>[^\[\]\n]{1,300}))?\]\](?![(\[:])"
)
_COMMENT = re.compile(r"%%(?!%)(?:[^%]|%(?!%)){0,20000}%%")
_HIDDEN = re.compile(r"\{%-?\s*comment\s*-?%\}.{0,20000}?\{%-?\s*endcomment\s*-?%\}", re.DOTALL)
_CELL_BREAK = re.compile(r"^\+{3}[ \t]*\r?$", re.MULTILINE)
_MARKED = re.compile(r"(?<![=\w])(==)(?=[^\s=])[^=\n]{0,500}[^\s=](==)(?![=\w])")
_INSERTED = re.compile(r"(?<![\w^])(\^\^)(?=[^\s^])[^^\n]{0,500}[^\s^](\^\^)(?![\w^])")
_KEYS = re.compile(r"(?<![\w+])(\+\+)(?=[\w-])[\w-]+(?:\+[\w-]+)*(\+\+)(?![\w+])")
"""Keys to press, as PyMdown writes them."""
_UNSEEN_LINES = re.compile(
    r"^ {0,3}(?:\[TOC\]|\[\[_?TOC_?\]\]|\*\[[^\]\n]{1,100}\]:[^\n]{0,500})[ \t]*$", re.MULTILINE | re.IGNORECASE
)
"""Where a list of headings goes, and what an abbreviation means, which is shown under the pointer."""
_BLOCK_ID = re.compile(r"[ \t]\^[A-Za-z0-9-]+[ \t]*$", re.MULTILINE)
_TAGS = re.compile(r"^ {0,3}(?:#[A-Za-z][\w/-]*[ \t]*)+$", re.MULTILINE)
_FIELD = re.compile(r"^(?:[-*+][ \t]+)?[A-Za-z][\w -]{0,40}:(:)(?=[ \t]+\S)", re.MULTILINE)
_EXAMPLE = re.compile(r"\(@([\w-]*)\)")
_EXAMPLES = re.compile(r"^\(@[\w-]*\)[ \t]", re.MULTILINE)
_OPENING = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])?[ \t]*")
_CLOSERS = re.compile(r"\{\{[<%]\s*/\s*([\w./-]+)[^{}\n]*\}\}|\{%-?\s*end(\w[\w-]*)[^%\n]*%\}")
_LINES = re.compile(r"(?:^\|[ \t][^|\n]*(?:\n|\Z))+", re.MULTILINE)
_BARS = re.compile(r"^(\|)[ \t]", re.MULTILINE)
_CONTENTS = re.compile(
    r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+[^\n]{0,200}\n[ \t]*\{:[ \t]*toc[^{}\n]*\}[ \t]*$", re.MULTILINE
)
"""What Kramdown replaces by a list of the page's headings."""
_TABLE_ATTRIBUTES = re.compile(r"(?<=\|\n)[ \t]*\{:[^{}\n]*\}[ \t]*$", re.MULTILINE)
_NUMBERED = re.compile(r"^(?:[^$\n]{0,500}|[ \t>]*\$\$[^$\n]{0,500})\$\$([ \t]+\{#[\w:.-]+\})[ \t]*$", re.MULTILINE)
"""A displayed formula with the name by which Quarto numbers it."""
_COMPUTED = re.compile(r"\{(?:r|python|julia|ojs|sql)\}[ \t]")
_COMPUTED_BY_KNITR = re.compile(r"(?:\{(?:r|python|julia|ojs|sql)\}|r)[ \t]")
_BREAK = re.compile(r"^[ \t]*\\(?:newpage|pagebreak|clearpage|v?hfill|vspace\{[^{}]*\})[ \t]*$", re.MULTILINE)
_LATEX = re.compile(
    r"^[ \t]*\\begin\{(tabular\*?|longtable|tikzpicture)\}.{0,20000}?\\end\{\1\}[ \t]*$", re.MULTILINE | re.DOTALL
)
_VALUES = frozenset({"param", "meta", "var", "site", "page", "env", "version", "skew"})
_UNSEEN_TAGS = frozenset(
    "assign capture endcapture seo feed comment endcomment raw endraw content-ref "
    "endcontent-ref embed endembed if elsif else endif unless endunless for endfor case when endcase cycle figure ref "
    "relref link post_url toc pagebreak video youtube vimeo gist tweet file code endcode capture stepper endstepper "
    "step endstep columns endcolumns column endcolumn updates endupdates update endupdate".split()
)
_ADDRESSES = frozenset(
    "ref relref include include-file includecode readfile link code-snippet youtube vimeo gist".split()
)
"""Shortcodes whose words are names of files and films."""
_WORDS = ("text", "title", "label", "caption", "alt", "name", "summary", "content", "tab", "header", "heading", "body")
_TABS = {"tabs": "tabs", "tabpane": "tabs", "tab": "tab"}
_FOLDS = frozenset({"details", "expand", "spoiler", "collapse", "accordion"})
_CODE_TAGS = frozenset({"highlight", "code-highlight"})
_KEY_TAGS = frozenset({"kbd", "key", "keys"})

Edit = tuple[int, int, str]
Problem = Callable[[int, str], None]


def mask(source: str, start: int, values: Mapping[str, str], problem: Problem, *, computed: bool = False) -> str:
    """A Markdown page of the same length from `start` on, in which nothing is left of the marks of templates.

    Args:
        computed: Whether code in a line may be a value that knitr computes: `` `r mean(x)` ``.
    """
    marks = (
        "{{",
        "{%",
        "[[",
        "%%",
        "==",
        "^",
        "#",
        "::",
        "(@",
        "\n|",
        "\\",
        "+++",
        "{:",
        "`{",
        "`r ",
        "++",
        "[TOC",
        "[toc",
        "*[",
    )
    if not any(mark in source for mark in marks):
        return source
    masker = _Masker(source, values, _COMPUTED_BY_KNITR if computed else _COMPUTED)
    for begin, end in _stretches(source, start):
        masker.stretch(begin, end)
    if masker.unknown:
        offset, name = masker.unknown[0]
        more = f" and {len(masker.unknown) - 1} more" if len(masker.unknown) > 1 else ""
        problem(offset, f"the value of {name}{more} is not known; {UNKNOWN} stands in its place")
    for offset, name in masker.latex:
        problem(offset, f"a {name} of LaTeX is left out")
    return masker.written()


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
    def __init__(self, source: str, values: Mapping[str, str], computed: re.Pattern[str] = _COMPUTED) -> None:
        self.source = source
        self.computed = computed
        self.values = values
        self.edits: list[Edit] = []
        self.unknown: list[tuple[int, str]] = []
        self.examples: dict[str, int] = {}
        self.latex: list[tuple[int, str]] = []
        self.raw = False
        self.closers: dict[str, list[tuple[int, int]]] = {}
        for match in _CLOSERS.finditer(source):
            self.closers.setdefault(match[1] or match[2], []).append(match.span())
        self.open_boxes: Counter[str] = Counter()
        self.has_examples = _EXAMPLES.search(source) is not None

    def stretch(self, begin: int, end: int) -> None:
        """Find what to mask in a part without fences."""
        code = [match.span() for match in _CODE.finditer(self.source, begin, end)]
        found: list[Edit] = []
        if "{" in self.source[begin:end]:
            found += [edit for match in _TAG.finditer(self.source, begin, end) for edit in self.template(match)]
        for pattern in (
            _COMMENT, _UNSEEN_LINES, _HIDDEN, _CELL_BREAK, _BLOCK_ID, _TAGS, _BREAK, _LATEX, _CONTENTS,
            _TABLE_ATTRIBUTES,
        ):  # fmt: skip
            found += [(*match.span(), "") for match in pattern.finditer(self.source, begin, end)]
        self.latex += [(match.start(), match[1]) for match in _LATEX.finditer(self.source, begin, end)]
        for match in _WIKI.finditer(self.source, begin, end):
            found += self.link(match)
        for pattern in (_MARKED, _INSERTED, _KEYS, _FIELD, _NUMBERED):
            for match in pattern.finditer(self.source, begin, end):
                found += [(*match.span(group), "") for group in range(1, len(match.groups()) + 1)]
        for match in _EXAMPLE.finditer(self.source, begin, end) if self.has_examples else ():
            number = self.examples.setdefault(match[1] or f"@{match.start()}", len(self.examples) + 1)
            found.append((*match.span(), f"({number})" if len(f"({number})") <= len(match[0]) else ""))
        for match in _LINES.finditer(self.source, begin, end):
            if match[0].count("\n") and not match[0].startswith("|:"):
                found += [(*bar.span(1), "") for bar in _BARS.finditer(self.source, *match.span())]
        self.edits += [edit for edit in found if not any(a <= edit[0] < b for a, b in code)]
        for a, b in code:
            inside = self.source[a:b].strip("`")
            if self.computed.match(inside):
                self.edits += self.unknown_value(a, b, f"`{inside}`")

    def link(self, match: re.Match[str]) -> list[Edit]:
        """Leave of `[[target|text]]` what a reader sees: the text, or the target's last part."""
        if match["embed"]:
            return [(*match.span(), "")]
        if match["target"].strip().isdigit():
            return []
        group = "alias" if match["alias"] else "target"
        begin, stop = match.span(group)
        if group == "target":
            begin += match["target"].rfind("#") + 1
            begin += 1 if self.source.startswith("^", begin) else 0
        return [(match.start(), begin, ""), (stop, match.end(), "")]

    # Templates -------------------------------------------------------------------------------------------------------

    def template(self, match: re.Match[str]) -> list[Edit]:
        """What becomes of a shortcode, tag, macro or value."""
        whole = match.span()
        if match["liquid"]:
            return self.tag(match)
        if self.raw:
            return []
        if match["hugo"]:
            return self.shortcode(match)
        if match["macro"] and match["arguments"] is not None:
            return self.words(match, "arguments", last=True)
        name = (match["macro"] or match["value"]).strip()
        if match["macro"] and _is_alone(self.source, *whole):
            return [(*whole, "")]
        return self.value(match, name)

    def value(self, match: re.Match[str], name: str) -> list[Edit]:
        known = self.values.get(name.removeprefix("page.").removeprefix("$frontmatter."), "")
        if known and len(known) <= len(match[0]):
            return [(*match.span(), known)]
        return self.unknown_value(*match.span(), match[0].strip())

    def unknown_value(self, begin: int, end: int, shown: str) -> list[Edit]:
        self.unknown.append((begin, shown))
        return [(begin, end, UNKNOWN)]

    def shortcode(self, match: re.Match[str]) -> list[Edit]:
        name = match["name"].rpartition("/")[2].lower()
        if match["close"]:
            return [(*match.span(), self.end_of(name))]
        if name in _CODE_TAGS:
            return self.fence(match, match["rest"])
        if name in _VALUES:
            arguments = [
                item.group("double") or item.group("single") or item.group("bare")
                for item in _ARGUMENT.finditer(match["rest"])
            ]
            return self.value(match, arguments[0] if arguments else name)
        if match["name"] in self.closers and (box := self.box(match, name, "rest")):
            return box
        if name in _KEY_TAGS and match["rest"].strip():
            begin = match.start("rest") + len(match["rest"]) - len(match["rest"].lstrip())
            end = begin + len(match["rest"].split()[0])
            return [(match.start(), begin, ""), (end, match.end(), "")]
        return [(*match.span(), "")] if name in _ADDRESSES else self.words(match, "rest")

    def tag(self, match: re.Match[str]) -> list[Edit]:
        """A tag of Liquid, Nunjucks or GitBook."""
        name = match["liquid"].lower()
        if name.startswith("include"):
            return self.included(match)
        if name in {"raw", "endraw", "verbatim", "endverbatim"}:
            self.raw = not name.startswith("end")
            return [(*match.span(), "")]
        if self.raw:
            return []
        ending = name.removeprefix("end")
        if name in _CODE_TAGS:
            return self.fence(match, match["given"])
        if name.startswith("end"):
            return [(*match.span(), self.end_of(ending))]
        if match["liquid"] in self.closers and (box := self.box(match, name, "given")):
            return box
        return [(*match.span(), "")] if name in _UNSEEN_TAGS else self.words(match, "given", keyed=True)

    def end_of(self, name: str) -> str:
        """The mark that ends what a tag of that name began."""
        if not self.open_boxes[name]:
            parts = name in BOXES or name in HOLDERS or name in _TABS or name in _FOLDS
            return "```" if name in _CODE_TAGS else " " if parts else ""
        self.open_boxes[name] -= 1
        return ":::"

    def stands_apart(self, match: re.Match[str]) -> bool:
        """Whether a tag and the one that closes it have lines of their own, so that text stands between lines."""
        closers = self.closers[match["name"] or match["liquid"]]
        place = bisect_left(closers, match.span())
        return (
            place < len(closers) and _is_alone(self.source, *match.span()) and _is_alone(self.source, *closers[place])
        )

    def included(self, match: re.Match[str]) -> list[Edit]:
        """The words that are given to a file of a theme, such as `warning.html content="Mind the gap."`."""
        words = self.words(match, "given", keyed=True)
        if len(words) < 2:
            return []  # it is named where blocks are settled
        (start, begin, _), end = words
        stem = match["given"].split()[0].rpartition("/")[2].partition(".")[0].lower()
        shown = f"> {stem.capitalize()}: "
        fits = BOXES.get(stem) in STRONGEST and len(shown) <= begin - start and _is_alone(self.source, *match.span())
        return [(start, begin, shown if fits else ""), end]

    def fence(self, match: re.Match[str], given: str) -> list[Edit]:
        language = given.split(maxsplit=1)[0].strip("\"',") if given.split() else ""
        return [(*match.span(), f"```{language}"[: len(match[0])])]

    def box(self, match: re.Match[str], name: str, group: str) -> list[Edit]:
        """The first line of a box, as a directive with its title in its own place."""
        arguments = list(_ARGUMENT.finditer(self.source, *match.span(group)))
        kind = BOXES.get(name, "") or _TABS.get(name, "") or ("details" if name in _FOLDS else "")
        if name in HOLDERS:
            named = [_text_of(item).lower() for item in arguments if (item["key"] or "type").lower() in KINDS]
            kind = next((BOXES[word] for word in named if word in BOXES), kind or "note")
        if not kind:
            return []
        title = next((item for item in arguments if item["key"] in _WORDS), None)
        if title is None:
            # What is not the kind of a box is its title.
            plain = [item for item in arguments if item["key"] is None]
            quoted = [item for item in plain if item["bare"] is None and _text_of(item).lower() not in BOXES]
            title = next(iter(plain if kind in {"tab", "details"} else quoted), None)
        if not self.stands_apart(match):
            return self.inline_box(match, kind, title)
        self.open_boxes[name] += 1
        opening = f":::{kind} "
        if title is None or not _text_of(title).strip():
            return [(*match.span(), opening[: len(match[0])].rstrip())]
        begin, stop = title.span(_group(title))
        if begin - match.start() < len(opening):
            return [(*match.span(), opening.rstrip())]
        return [(match.start(), begin, opening), (stop, match.end(), " ")]

    def inline_box(self, match: re.Match[str], kind: str, title: re.Match[str] | None) -> list[Edit]:
        """The beginning of a box that shares a line with its text: its kind, if it warns, and its title."""
        start, end = match.span()
        begin, stop = title.span(_group(title)) if title is not None and _text_of(title).strip() else (end, end)
        lead = f"> {kind.capitalize()}: " if kind in STRONGEST else ""
        before = self.source[self.source.rfind("\n", 0, start) + 1 : start]
        fits = len(lead) <= begin - start and not before.strip()
        return [(start, begin, lead if fits else ""), (stop, end, ": ")]

    def words(self, match: re.Match[str], group: str, *, last: bool = False, keyed: bool = False) -> list[Edit]:
        """Leave the words that a shortcode or macro shows, and nothing else of it."""
        arguments = list(_ARGUMENT.finditer(self.source, *match.span(group)))
        plain = (
            []
            if keyed
            else [item for item in arguments if item["key"] is None and item["bare"] is None and _text_of(item).strip()]
        )
        shown = next((item for item in arguments if item["key"] in _WORDS and _text_of(item).strip()), None)
        if shown is None and plain and not re.match(r"https?:|[\w./-]*/", _text_of(plain[-1])):
            shown = plain[min(1, len(plain) - 1)] if last else plain[0]
        if shown is None:
            return [(*match.span(), "")]
        begin, stop = shown.span(_group(shown))
        return [(match.start(), begin, ""), (stop, match.end(), "")]

    # Writing ---------------------------------------------------------------------------------------------------------

    def written(self) -> str:
        """The source with all edits made."""
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


_BLANKED = re.compile(rf"^[ \t{FILLER}]*{FILLER}[ \t{FILLER}]*$", re.MULTILINE)


def _fill(source: str, begin: int, end: int, text: str) -> str:
    """A replacement of the same length; line ends stay."""
    rest = source[begin + len(text) : end]
    line = source[source.rfind("\n", 0, begin) + 1 : begin]
    before = source[begin - 1 : begin] in {" ", "\t"} and _OPENING.fullmatch(line) is None
    apart = True if text.endswith(" ") else before if not text else source[end : end + 1] in {"", " ", "\t", "\r", "\n"}
    filler = " " if apart else FILLER
    return text + "".join(c if c in "\r\n" else filler for c in rest)


def _is_alone(source: str, begin: int, end: int) -> bool:
    before = source[source.rfind("\n", 0, begin) + 1 : begin]
    after = source[end : source.find("\n", end) if "\n" in source[end:] else len(source)]
    return not before.strip() and not after.strip()


def _group(argument: re.Match[str]) -> str:
    return next(name for name in ("double", "single", "bare") if argument[name] is not None)


def _text_of(argument: re.Match[str]) -> str:
    return str(argument[_group(argument)])


def values_of(front: Mapping[str, object]) -> dict[str, str]:
    """Values of a front matter that a page may show, by name."""
    return {name: str(value) for name, value in front.items() if isinstance(value, str | int | float)}
