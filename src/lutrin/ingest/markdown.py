"""Markdown and MDX pages, understood: title, sections and units, every one with its place in the file."""

import re
from collections import Counter
from pathlib import PurePosixPath

import msgspec

from lutrin.ingest.blocks import References, parse_blocks
from lutrin.ingest.decoding import decode
from lutrin.ingest.directives import LOOKS_LIKE_MYST
from lutrin.ingest.frontmatter import FrontMatter, FrontText, front_texts, read_front_matter
from lutrin.ingest.inline import Inline, expression_text, read_visible
from lutrin.ingest.masks import mask, values_of
from lutrin.ingest.placed import line_number
from lutrin.ingest.roles import role_of_front, role_of_page
from lutrin.ingest.script import HTML, UNSEEN_KEYS, exported_names, exported_values
from lutrin.ingest.sections import Outline
from lutrin.ingest.tree import Block, Element, Heading, Paragraph, Script
from lutrin.ingest.wording import UNKNOWN, clean
from lutrin.records import MARKDOWN, Document, Notice

_CELLS = (".qmd", ".rmd", ".ipynb")
# A plain Markdown file is read as MDX if it shows that it is: imports, components, comments in braces.
_LOOKS_LIKE_MDX = re.compile(
    r"^import\s[^\n]*\sfrom\s+['\"]|^export\s+(?:const|default|function)\b|"
    r"^[ \t]*</?(?P<name>[A-Z][A-Za-z]*)[\s/>]|\{/\*",
    re.MULTILINE,
)
_FENCE_LINE = re.compile(r"^[ \t>]*(?:```|~~~)", re.MULTILINE)
_NUMBER_PREFIX = re.compile(r"^\d+[-_.\s]+(?=\D)")
_MAX_NOTICES = 20
_FRONT_NAME = re.compile(r"\bfrontMatter\??\.([A-Za-z_$][\w$]*)")
_DOCUSAURUS = re.compile(r"^import\s[^\n]*['\"]@(?:theme|site|docusaurus)\b", re.MULTILINE)
# Components that Mintlify knows without an import.
_MINTLIFY = re.compile(
    r"^[ \t]*<(?:Card|CardGroup|Columns|Steps?|Accordion|AccordionGroup|CodeGroup|ParamField|ResponseField|Frame|Update"
    r"|Note|Tip|Info|Check|Warning|Tabs?)\b",
    re.MULTILINE,
)


class Page:
    """A page as a tree. `source` is as long as the file, without templates' marks; MDX by its name or looks."""

    def __init__(self, source: str, filename: str) -> None:
        self.filename = filename
        # What other formats are brought into has everything escaped that would be markup of MDX, and numbers as shown.
        suffix = PurePosixPath(filename).suffix.lower()
        self.plain = suffix not in {*MARKDOWN, *_CELLS}
        self.mdx = suffix == ".mdx" or (suffix in MARKDOWN and looks_like_mdx(source))
        self._problems: list[tuple[int, str]] = []
        self.front: FrontMatter = read_front_matter(source, self.problem)
        if not (self.mdx or self.plain):
            computed = suffix in {".qmd", ".rmd"}
            source = mask(source, self.front.end, values_of(self.front.values), self.problem, computed=computed)
        self.source = source
        self.blocks: list[Block]
        self.references: References
        self.blocks, self.references = parse_blocks(source, self.front.end, self.problem, mdx=self.mdx)
        self.inline = Inline(source, self.references, mdx=self.mdx, plain=self.plain)
        scripts = [block for block in _flat(self.blocks) if isinstance(block, Script) and block.module]
        self.values = self._values(scripts)
        self.title = self._find_title()

    def problem(self, offset: int, message: str) -> None:
        """Note something that the author should know."""
        if len(self._problems) < _MAX_NOTICES:
            printable = "".join(c if c.isprintable() else "\ufffd" for c in message[:200])
            self._problems.append((offset, printable))

    def _values(self, scripts: list[Script]) -> dict[str, str]:
        values = {}
        texts = front_texts(self.source, self.front)
        often = Counter(item.path for item in texts)
        for item in texts:
            if often[item.path] == 1:
                values.update({f"{prefix}frontMatter.{item.path}": item.text for prefix in ("", "props.", "metadata.")})
        for script in scripts:
            values.update(exported_values(self.source, script.start, script.end))
        return {name: value for name, value in values.items() if value}

    def shown_front(self) -> list[FrontText]:
        """Strings of the front matter that the page shows as a whole.

        Lists and objects that it names, the description that Mintlify puts under a page's title, and the abstract of a
        MyST page.
        """
        named = set(_FRONT_NAME.findall(self.source, self.front.end))
        whole = {name for name in named if isinstance(self.front.values.get(name), dict | list)}
        if self.mdx and not _DOCUSAURUS.search(self.source) and _MINTLIFY.search(self.source, self.front.end):
            whole.add("description")
        if "kernelspec" in self.front.values or "jupytext" in self.front.values or LOOKS_LIKE_MYST.search(self.source):
            whole |= {"subtitle", "abstract"}
        return [
            item
            for item in front_texts(self.source, self.front)
            if item.path.partition(".")[0] in whole and is_prose(item)
        ]

    def shown_exports(self) -> frozenset[str]:
        """Names of exports that stand in braces or as a tag somewhere in the page."""
        scripts = [block for block in _flat(self.blocks) if isinstance(block, Script) and block.module]
        names = {name for s in scripts for name in exported_names(self.source, s.start, s.end)}
        rest = self.source
        for script in reversed(scripts):
            rest = rest[: script.start] + rest[script.end :]
        found = {
            name
            for name in sorted(names)[:200]
            if re.search(rf"(?:[{{<][^{{}}<>\n]{{0,200}}|<)\b{re.escape(name)}\b", rest)
        }
        return frozenset(found - self.values.keys())

    def _find_title(self) -> str:
        title = self.front.text("title")
        if not title:
            headings = [block for block in _flat(self.blocks) if isinstance(block, Heading)]
            first = next((heading for heading in headings if heading.level == 1), None)
            if first is None and headings and headings[0] is self.opening():
                first = headings[0]  # the pages of mdBook may begin with a smaller heading
            if first is not None:
                tokens = self.inline.tokens(first.body.text)
                title = clean(read_visible(first.body.text, tokens, self.values, attributes=False).text)
        return title or title_from_name(self.filename)

    def opening(self) -> Block | None:
        """The first block that shows anything: the targets of old links may stand before it."""
        return next((block for block in self.blocks if not self._is_empty(block)), None)

    def _is_empty(self, block: Block) -> bool:
        if isinstance(block, Element):
            bare = block.tag.name in {"a", "span", "div"} and not block.tag.attribute("class")
            return bare and all(self._is_empty(child) for child in block.children)
        if not isinstance(block, Paragraph):
            return False
        tokens = self.inline.tokens(block.body.text)
        tags = {token["tag"].name for token in tokens if token["type"] == "tag"}
        return tags <= {"a", "span"} and not read_visible(block.body.text, tokens, self.values).text.strip()

    def report_unknown(self) -> None:
        """Note the expressions, of the texts read so far, whose values are not known."""
        unknown = [raw for raw in self.inline.expressions if UNKNOWN in expression_text(raw, self.values)]
        if unknown:
            more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
            message = f"the value of {{{unknown[0].strip()}}}{more} is not known; {UNKNOWN} stands in its place"
            self.problem(max(0, self.source.find(f"{{{unknown[0]}}}")), message)

    def position(self) -> float | None:
        """Place among its siblings, as Docusaurus, Hugo, Just the Docs and others call it."""
        given = (self.front.number(name) for name in ("sidebar_position", "weight", "nav_order", "order"))
        return next((number for number in given if number is not None), None)

    def notices(self) -> tuple[Notice, ...]:
        """What the author should know, in order of the lines."""
        return tuple(
            Notice(filename=self.filename, message=message, line=line_number(self.source, offset))
            for offset, message in sorted(self._problems)
        )


def is_prose(item: FrontText) -> bool:
    """Whether a string of the front matter is text rather than a path, an address or a class."""
    key = item.path.rpartition(".")[2]
    return any(c.isalnum() for c in item.text) and (" " in item.text or key not in UNSEEN_KEYS)


def looks_like_mdx(source: str) -> bool:
    """Whether a Markdown file is MDX: it has imports, components or comments in braces, and not in code only."""
    match = _LOOKS_LIKE_MDX.search(source)
    counted = fences = 0
    while match is not None:
        fences += len(_FENCE_LINE.findall(source, counted, match.start()))
        counted = match.start()
        if fences % 2:
            after = _FENCE_LINE.search(source, match.end())
            match = _LOOKS_LIKE_MDX.search(source, after.end()) if after else None
        elif match["name"] and match["name"].lower() in HTML:
            match = _LOOKS_LIKE_MDX.search(source, match.end())
        else:
            return True
    return False


def read_markdown(data: bytes, filename: str, _password: str = "") -> Document:
    """Read a file of Markdown or MDX in whatever encoding it has.

    Raises:
        DocumentError: The file is not text.
    """
    source, notices = decode(data, filename)
    document = parse_markdown(source, filename)
    return msgspec.structs.replace(document, notices=(*notices, *document.notices))


def parse_markdown(source: str, filename: str) -> Document:
    """Read a Markdown or MDX page; `module` and `chapter` are left to `documents`, which knows the folders."""
    page = Page(source, filename)
    outline = Outline(
        page.source,
        page.title,
        page.inline,
        values=page.values,
        shown=page.shown_exports(),
        role=role_of_front(page.front.text) or role_of_page(filename),
        written=page.plain,
        problem=page.problem,
    )
    outline.add_front(page.shown_front())
    outline.add(page.blocks)
    page.report_unknown()
    return Document(
        filename=filename,
        title=page.title,
        source=source,
        sections=outline.sections(len(source)),
        section=stem(filename),
        position=page.position(),
        keywords=page.front.texts("keywords"),
        description=page.front.text("description"),
        is_simulation=page.front.flag("is_simulation"),
        notices=page.notices(),
    )


def stem(filename: str) -> str:
    """The file's name without folders and suffix: `01-digital-vs-physical-ai`."""
    return filename.rsplit("/", 1)[-1].rsplit(".", 1)[0]


def title_from_name(name: str) -> str:
    """A title for a file or folder that has none: `03-chapter-3-architecture` reads `Chapter 3: Architecture`."""
    bare = _NUMBER_PREFIX.sub("", stem(name) if "." in name.rsplit("/", 1)[-1] else name.rsplit("/", 1)[-1])
    words = re.split(r"[-_\s]+", bare.strip("-_ ")) if bare.strip("-_ ") else [name]
    titled = [word if word != word.lower() else word[:1].upper() + word[1:] for word in words]
    if len(titled) > 2 and titled[0].lower() in {"chapter", "part", "module", "unit"} and titled[1].isdigit():
        return f"{titled[0]} {int(titled[1])}: {' '.join(titled[2:])}"
    return " ".join(titled)


def _flat(blocks: list[Block]) -> list[Block]:
    """Blocks at the top of the page and in its elements, where imports and headings can stand."""
    found: list[Block] = []
    for block in blocks:
        found.append(block)
        if isinstance(block, Element):
            found += _flat(block.children)
    return found
