"""A page as HTML for the reader: from the same tree as its chunks, with the same anchors.

The server sanitises it again; this module is not the only barrier.
"""

import re
from collections.abc import Sequence
from html import escape, unescape
from itertools import chain, groupby, repeat

from lutrin.ingest import tree
from lutrin.ingest.anchors import Slugger
from lutrin.ingest.dialects import LEFT_OUT
from lutrin.ingest.inline import MARKED, Token, anchor_text, expression_text, plain_text
from lutrin.ingest.labels import CAPTION
from lutrin.ingest.makers import BOXES, FOLDED, NAMED
from lutrin.ingest.markdown import Page
from lutrin.ingest.masks import FILLER
from lutrin.ingest.placed_text import PlacedText
from lutrin.ingest.script import ScriptText, attribute_texts, exported_names, literal_of, script_texts
from lutrin.ingest.tree import Tag, is_dark_address
from lutrin.ingest.wording import CODE_GROUPS, RECOGNIZED, clean, code_title, language_of

_PLAIN_TAGS = frozenset(
    "abbr b bdo br cite code del dfn em i ins kbd mark q rt ruby s samp small strike strong sub sup u var wbr".split()
)
_WRAPPED = {"emphasis": "em", "strong": "strong", "strike": "del", "raised": "sup", "lowered": "sub", "marked": "mark"}
_ID = re.compile(r"#([\w:-]+)")
_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*):|\s*[/\\]{2}")
_KEPT = frozenset(
    "table thead tbody tfoot tr td th caption ul ol li dl dt dd p div section article blockquote figure figcaption "
    "details summary".split()
)

_CELLS = frozenset({"td", "th", "li", "dt", "dd", "p", "caption", "summary"})
_SPANS = ("colspan", "rowspan", "start", "value")
_TABS = {"tabs": "tabs", "tabitem": "tab", "hfoptions": "tabs", "hfoption": "tab", "branch": "tab"}


def link_target(url: str) -> str:
    """An allowed link: relative, or over http(s) or mail; empty for every other."""
    url = unescape(url).strip()
    match = _SCHEME.match(url)
    return "" if match and (match[1] or "").lower() not in {"http", "https", "mailto"} else url


def image_html(url: str, alt: str) -> str:
    """A picture, or its description if the picture may not be loaded; empty for a dark-scheme variant."""
    if is_dark_address(url):
        return ""
    source = unescape(url).strip()
    if source and not _SCHEME.match(source):  # pictures from elsewhere are not loaded
        return f'<img src="{escape(source)}" alt="{escape(alt)}">'
    return f'<span class="missing-image">{escape(alt)}</span>' if alt else ""


def inline_html(tokens: Sequence[Token], values: dict[str, str]) -> str:
    """HTML of a paragraph's tokens."""
    return "".join(_token(token, values) for token in tokens)


def _token(token: Token, values: dict[str, str]) -> str:
    kind = token["type"]
    inside = inline_html(token["children"], values) if "children" in token and kind != "image" else ""
    raw = escape(token["raw"], quote=False) if "raw" in token else ""
    if kind == "text":
        return escape(unescape(token["raw"]), quote=False)
    if kind == "image":
        return image_html(token["attrs"]["url"], plain_text(token["children"]))
    if kind == "tag":
        return escape(token.get("shows", ""), quote=False) + _tag(token["tag"])
    if kind in _WRAPPED:
        return f"<{_WRAPPED[kind]}>{inside}</{_WRAPPED[kind]}>"
    if kind == "span":
        match = _ID.search(token["raw"])
        anchor = f' id="{match[1]}"' if match else ""
        return f"<span{anchor}>{inside}</span>"
    if kind == "link":
        return _link(token["attrs"]["url"], inside)
    if kind == "note":  # a mark that leads to its note
        return f'<sup><a href="#note-{token["number"]}">{token["number"]}</a></sup>'
    if kind == "aside":
        return f"<sup>{token['number']}</sup><small> ({inside})</small>"
    if kind == "expression":
        return escape(expression_text(token["raw"], values), quote=False)
    simple = {
        "softbreak": "\n",
        "linebreak": "<br>\n",
        "codespan": f"<code>{raw}</code>",
        "maths": f'<span class="math">${raw}$</span>',
    }
    return simple.get(kind, "")


def _link(url: str, inside: str) -> str:
    target = link_target(url)
    return f'<a href="{escape(target)}">{inside}</a>' if target else inside


def _tag(tag: Tag) -> str:
    name = tag.name.lower()
    if name == "img":
        return image_html(tag.attribute("src"), tag.attribute("alt"))
    if name == "a" and not tag.closing:
        target = link_target(tag.attribute("href"))
        return f'<a href="{escape(target)}">' if target else "<a>"
    if name == "li" and not tag.closing:
        return "<br>• "
    if name in _PLAIN_TAGS or name == "a":
        return f"<{'/' if tag.closing else ''}{name}>"
    texts = " ".join(escape(item.text, quote=False) for item in attribute_texts(tag))
    return f" <span>{texts}</span> " if texts else " "


def page_html(source: str, filename: str) -> str:
    """The body of an indexed page: its title as `h1`, headings with their ids, everything else escaped."""
    if filename.lower().endswith(".pdf"):
        return _pdf_html(source)
    page = Page(source, filename)
    first = next((block for block in page.blocks if isinstance(block, tree.Heading)), None)
    renderer = _Renderer(page)
    titled = (
        first is not None
        and (first.level == 1 or first is page.opening())
        and page.text(first.body).casefold() == page.title.casefold()
    )
    if titled and first is not None:
        first.level = 1
    title = "" if titled else f"<h1>{escape(page.title, quote=False)}</h1>\n"
    head = "".join(f"<p>{escape(clean(item.text), quote=False)}</p>\n" for item in page.shown_front())
    below = page.blocks.index(first) + 1 if first is not None and titled and first is page.opening() else 0
    body = renderer.blocks(page.blocks[:below]) + head + renderer.blocks(page.blocks[below:])
    return (title + body).replace(FILLER, "")


class _Renderer:
    def __init__(self, page: Page) -> None:
        self.page = page
        self.exports = page.shown_exports()
        self.slugger = Slugger()

    def inline(self, body: PlacedText) -> str:
        return inline_html(self.page.inline.tokens(body.text), self.page.values)

    def link_html(self, link: ScriptText) -> str:
        text = clean(link.text)
        inside = escape(text, quote=False)
        if MARKED.search(text):
            inside = inline_html(self.page.inline.tokens(text), {})
        return _link(link.url, inside)

    def blocks(self, blocks: Sequence[tree.Block]) -> str:
        parts: list[str] = []
        for branches, group in groupby(
            blocks, key=lambda block: isinstance(block, tree.Element) and block.tag.name == "Branch"
        ):
            inside = self._blocks(list(group))
            parts.append(f'<section class="tabs">\n{inside}</section>\n' if branches else inside)
        return "".join(parts)

    def _blocks(self, blocks: Sequence[tree.Block]) -> str:
        parts: list[str] = []
        for block in blocks:
            caption = isinstance(block, tree.Paragraph) and bool(CAPTION.match(block.body.text.lstrip("*_")))
            if caption and isinstance(block, tree.Paragraph) and parts and parts[-1].startswith("<p><img "):
                image = parts.pop().removeprefix("<p>").removesuffix("</p>\n")
                parts.append(f"<figure>{image}<figcaption>{self.inline(block.body)}</figcaption></figure>\n")
            else:
                parts.append(self.block(block))
        return "".join(parts)

    def block(self, block: tree.Block) -> str:
        return str(getattr(self, type(block).__name__.lower())(block))

    def rule(self, _block: tree.Rule) -> str:
        return "<hr>\n"

    def math(self, block: tree.Math) -> str:
        return f'<p><span class="math">$${escape(block.body.text, quote=False)}$$</span></p>\n'

    def paragraph(self, block: tree.Paragraph) -> str:
        inside = self.inline(block.body)
        return f"<p>{inside}</p>\n" if inside.strip() else ""

    def admonition(self, block: tree.Admonition) -> str:
        if block.name == "figure":
            picture = self.blocks(block.children[:1]).strip().removeprefix("<p>").removesuffix("</p>")
            caption = self.blocks(block.children[1:])
            figcaption = f"<figcaption>\n{caption}</figcaption>" if caption else ""
            return f"<figure>{picture}{figcaption}</figure>\n"
        title = self.inline(block.title) if block.title is not None else ""
        return self.aside(block.name, title, self.blocks(block.children))

    def heading(self, block: tree.Heading) -> str:
        tokens = self.page.inline.tokens(block.body.text)
        anchor = block.anchor or self.slugger.next(anchor_text(tokens))
        inside = inline_html(tokens, self.page.values)
        return f'<h{block.level} id="{escape(anchor)}">{inside}</h{block.level}>\n' if inside.strip() else ""

    def code(self, block: tree.Code, *, tab: bool = False) -> str:
        text = escape(block.text, quote=False)
        language = language_of(block.info)
        title = code_title(block.info, tab=tab)
        head = f'<p class="code-title">{escape(title[title.lastindex or 1])}</p>\n' if title else ""
        if language == "mermaid":
            return f'{head}<pre class="mermaid">{text}</pre>\n'
        attribute = f' class="language-{escape(language)}"' if language else ""
        return f"{head}<pre><code{attribute}>{text}\n</code></pre>\n"

    def table(self, block: tree.Table) -> str:
        aligns = [f' align="{name}"' if name else "" for name in block.aligns]

        def row(cells: Sequence[PlacedText], tag: str) -> str:
            inside = "".join(
                f"<{tag}{align}>{self.inline(cell)}</{tag}>"
                for cell, align in zip(cells, chain(aligns, repeat("")), strict=False)
            )
            return f"<tr>{inside}</tr>\n".replace("\\|", "|")

        body = "".join(row(cells, "td") for cells in block.rows)
        return f"<table>\n<thead>\n{row(block.header, 'th')}</thead>\n<tbody>\n{body}</tbody>\n</table>\n"

    def listing(self, block: tree.Listing) -> str:
        if block.delimiter not in ".)":
            items = "".join(f"<li>{self.item(item)}</li>\n" for item in block.items)
            return f"<ul>\n{items}</ul>\n"
        numbers = block.numbers(written=self.page.plain)
        items = ""
        for place, (item, number) in enumerate(zip(block.items, numbers, strict=True)):
            value = f' value="{number}"' if place and number != numbers[place - 1] + 1 else ""
            items += f"<li{value}>{self.item(item)}</li>\n"
        start = f' start="{numbers[0]}"' if numbers[0] != 1 else ""
        return f"<ol{start}>\n{items}</ol>\n"

    def item(self, item: tree.Item) -> str:
        if sum(isinstance(child, tree.Paragraph) for child in item.children) != 1:
            return self.blocks(item.children)
        return "".join(
            self.inline(child.body) if isinstance(child, tree.Paragraph) else self.block(child)
            for child in item.children
        )

    def quote(self, block: tree.Quote) -> str:
        return f"<blockquote>\n{self.blocks(block.children)}</blockquote>\n"

    def note(self, block: tree.Note) -> str:
        number = self.page.inline.note_number(block.name)
        inside = self.blocks(block.children)
        return f'<p><sup id="note-{number}">{number}</sup> {inside.removeprefix("<p>")}'

    def aside(self, name: str, title: str, inside: str) -> str:
        if name in {"tabs", "tab-set"}:
            return f'<section class="tabs">\n{inside}</section>\n'
        if name in tree.TABS:
            return f'<section class="tab">\n<p class="label">{title}</p>\n{inside}</section>\n'
        if name in FOLDED:
            return f"<details><summary>{title or FOLDED[name]}</summary>\n{inside}</details>\n"
        box = next((box for box in name.split() if box in NAMED), "")
        if name not in BOXES.values() and not box:
            head = f"<p><strong>{title}</strong></p>\n" if title else ""
            return f"<div>\n{head}{inside}</div>\n"
        head = f'<p class="admonition-title">{title or NAMED.get(box, name.capitalize())}</p>\n'
        return f'<aside class="admonition {"note" if box else name}">\n{head}{inside}</aside>\n'

    def element(self, block: tree.Element) -> str:
        tag = block.tag
        texts = [self.link_html(item) for item in attribute_texts(tag)]
        only = block.only_text
        if tag.name == "img":
            return f"<p>{image_html(tag.attribute('src'), tag.attribute('alt'))}</p>\n"
        if tree.HEADED.fullmatch(tag.name) and only is not None:
            anchor = tag.attribute("id")
            attribute = f' id="{escape(anchor)}"' if anchor else ""
            return f"<{tag.name}{attribute}>{self.inline(only.body)}</{tag.name}>\n"
        if tag.name == LEFT_OUT:
            address = escape(tag.attribute("src"), quote=False)
            return f'<p class="label">This code stands in another file: <code>{address}</code></p>\n'
        if tag.name in CODE_GROUPS:
            tabs = (self.code(b, tab=True) if isinstance(b, tree.Code) else self.block(b) for b in block.children)
            return "".join(tabs)
        inside = self.blocks(block.children)
        callout = tree.callout_of(tag)
        if callout:
            return self.aside(callout, " ".join(texts), inside)
        if tag.name in _KEPT:
            inside = self.inline(only.body) if only is not None and tag.name in _CELLS else f"\n{inside}"
            spans = "".join(
                f' {name}="{value}"' for name in _SPANS if (value := tag.attribute(name)).isdigit() and int(value) < 100
            )
            return f"<{tag.name}{spans}>{inside}</{tag.name}>\n"
        if tag.name == "Branch":
            texts = [escape(tree.variant_of(tag), quote=False)]
        head = "".join(f'<p class="label">{text}</p>\n' for text in texts)
        if file := tag.attribute("file-name") or tag.attribute("filename"):
            head += f'<p class="code-title">{escape(file, quote=False)}</p>\n'
        kind = _TABS.get(tag.name.lower())
        if kind:
            return f'<section class="{kind}">\n{head}{inside}</section>\n'
        return f"{head}{inside}"

    def script(self, block: tree.Script) -> str:
        source = self.page.source
        if block.module:
            if not self.exports.intersection(exported_names(source, block.start, block.end)):
                return ""
            texts = [item.text for item in script_texts(source, block.start, block.end)]
        else:
            inner = source[block.start + 1 : block.end - 1]
            literal = literal_of(inner)
            value = self.page.values.get(inner.strip()) or (literal[0] if literal else None)
            if value is not None and "\n" in value:
                return f"<pre><code>{escape(value, quote=False)}</code></pre>\n"
            items = script_texts(source, block.start + 1, block.end - 1)
            texts = [value] if value is not None else [item.text for item in items]
        return "".join(f"<p>{escape(clean(text), quote=False)}</p>\n" for text in texts)


def _pdf_html(source: str) -> str:
    slugger = Slugger()
    sections = []
    for number, page in enumerate(source.split("\f"), start=1):
        blocks = "".join(_pdf_block(block, slugger) for block in page.split("\n\n") if block.strip())
        sections.append(f'<section class="page" id="page-{number}">\n{blocks}</section>\n')
    return "".join(sections)


def _pdf_block(block: str, slugger: Slugger) -> str:
    level = len(block) - len(block.lstrip("#"))
    if 1 <= level <= 6 and block[level : level + 1] == " ":
        text = block[level + 1 :]
        return f'<h{level} id="{escape(slugger.next(text))}">{escape(text, quote=False)}</h{level}>\n'
    if block == RECOGNIZED:
        return f'<p class="recognised"><small>{escape(block, quote=False)}</small></p>\n'
    if block.startswith("```\n"):
        return f"<pre><code>{escape(block[4:].removesuffix('```'), quote=False)}</code></pre>\n"
    if block.startswith("| "):
        rows = [line.strip("| ").split(" | ") for line in block.splitlines()]
        cells = ["".join(f"<td>{escape(cell, quote=False)}</td>" for cell in row) for row in rows]
        return "<table>\n" + "".join(f"<tr>{row}</tr>\n" for row in cells) + "</table>\n"
    return f"<p>{escape(block.strip(), quote=False)}</p>\n"
