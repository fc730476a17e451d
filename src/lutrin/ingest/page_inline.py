"""Inline tokens as HTML: escaped, without scripts, without pictures from elsewhere."""

import re
from collections.abc import Callable, Sequence
from html import escape, unescape

from lutrin.ingest.inline import Token
from lutrin.ingest.script import Tag
from lutrin.ingest.strings import attribute_texts
from lutrin.ingest.tree import is_dark_address
from lutrin.ingest.visible import expression_text, plain_text

_PLAIN_TAGS = frozenset("abbr b cite code del em i ins kbd mark q s samp small strong sub sup u var br wbr".split())
_WRAPPED = {"emphasis": "em", "strong": "strong", "strike": "del", "raised": "sup", "lowered": "sub", "marked": "mark"}
_ID = re.compile(r"#([\w:-]+)")
_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*):|\s*[/\\]{2}")


def link_target(url: str) -> str:
    """A link that may be followed: relative, or over http(s) or mail; empty for every other."""
    url = unescape(url).strip()
    match = _SCHEME.match(url)
    return "" if match and (match[1] or "").lower() not in {"http", "https", "mailto"} else url


def image_source(url: str) -> str:
    """The address of a picture of the book itself; empty for one that would be loaded from elsewhere."""
    url = unescape(url).strip()
    return "" if _SCHEME.match(url) else url


def image_html(url: str, alt: str) -> str:
    """A picture, or its description where the picture may not be loaded; nothing of one for dark schemes."""
    if is_dark_address(url):
        return ""
    source = image_source(url)
    if source:
        return f'<img src="{escape(source)}" alt="{escape(alt)}">'
    return f'<span class="missing-image">{escape(alt)}</span>' if alt else ""


def inline_html(tokens: Sequence[Token], values: dict[str, str]) -> str:
    """HTML of a paragraph's tokens."""
    return "".join(_token(token, values) for token in tokens)


def _token(token: Token, values: dict[str, str]) -> str:
    kind = token["type"]
    maker = _MAKERS.get(kind)
    if maker is not None:
        return maker(token)
    if kind in _WRAPPED:
        return f"<{_WRAPPED[kind]}>{inline_html(token['children'], values)}</{_WRAPPED[kind]}>"
    if kind == "span":
        named = _ID.search(token["raw"])
        anchor = f' id="{named[1]}"' if named else ""
        return f"<span{anchor}>{inline_html(token['children'], values)}</span>"
    if kind == "link":
        target = link_target(token["attrs"]["url"])
        text = inline_html(token["children"], values)
        return f'<a href="{escape(target)}">{text}</a>' if target else text
    if kind in {"note", "aside"}:
        return _note(token, values)
    return escape(expression_text(token["raw"], values), quote=False) if kind == "expression" else ""


def _note(token: Token, values: dict[str, str]) -> str:
    """A note mark that leads to its note, the number before the note, or a note that stands beside its mark."""
    number = token["number"]
    if token["type"] == "aside":
        return f"<sup>{number}</sup><small> ({inline_html(token['children'], values)})</small>"
    if token["defines"]:
        return f'<sup id="note-{number}">{number}</sup>'
    return f'<sup><a href="#note-{number}">{number}</a></sup>'


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
    texts = " ".join(escape(shown.text, quote=False) for shown in attribute_texts(tag))
    return f" <span>{texts}</span> " if texts else " "


_MAKERS: dict[str, Callable[[Token], str]] = {
    "text": lambda token: escape(unescape(token["raw"]), quote=False),
    "softbreak": lambda _: "\n",
    "linebreak": lambda _: "<br>\n",
    "codespan": lambda token: f"<code>{escape(token['raw'], quote=False)}</code>",
    "maths": lambda token: f'<span class="math">${escape(token["raw"], quote=False)}$</span>',
    "image": lambda token: image_html(token["attrs"]["url"], plain_text(token["children"])),
    "tag": lambda token: _tag(token["tag"]),
}
