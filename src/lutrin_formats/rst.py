"""reStructuredText (.rst): docutils parses it, and its HTML is read like any page.

Sphinx's directives and roles, which docutils does not know, are read by their content: a directive by its title and
text, a role by its visible words. Nothing is included from other files.
"""

import re
from collections.abc import Callable, Sequence
from io import StringIO
from typing import Any

import docutils.core
import docutils.writers.html5_polyglot
from docutils import nodes
from docutils.parsers.rst import Directive, directives, roles
from docutils.parsers.rst.directives.admonitions import Admonition
from docutils.parsers.rst.directives.body import MathBlock
from docutils.parsers.rst.languages import en
from docutils.statemachine import StringList

from lutrin.ingest.decoding import decode
from lutrin.ingest.hypertext import document_of, main_of, soup_of, to_markdown
from lutrin.ingest.makers import BOXES
from lutrin.records import Document, Notice

_DIRECTIVE = re.compile(r"^[ \t]*\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?([\w:+.-]+?)::(?:[ \t]|$)", re.MULTILINE)
_ROLE = re.compile(r"(?<![\w`]):([A-Za-z][\w:+.-]*):`|`:([A-Za-z][\w:+.-]*):")
_TARGET = re.compile(r"(.*)(?<!\\)<[^<>]*>", re.DOTALL)
_UNSEEN = frozenset(
    "toctree index highlight default-domain currentmodule module py:module py:currentmodule tabularcolumns contents "
    "sectionauthor codeauthor todo meta raw program autosummary acks target-notes sectnum header footer "
    "default-role role title testsetup testcleanup".split()
)
"""Directives that show nothing, or lists of links."""
_INCLUDED = frozenset("include literalinclude automodule autoclass autofunction automethod".split())
_SINCE = {
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
}
_ON_PAGES = re.compile(r"(?<!not )\b(?:builder_)?html\b|\bnot (?:latex|pdf|man|epub)")
"""Conditions of content that Sphinx shows in HTML."""
_CODE = frozenset("code code-block sourcecode highlight parsed-literal ipython doctest testcode prompt".split())
_CODE_ROLES = frozenset("code file program option envvar command kbd samp func meth class mod attr data exc".split())
_SETTINGS: dict[str, Any] = {
    "_disable_config": True,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 2,
    "halt_level": 6,
    "syntax_highlight": "none",
    "math_output": "MathJax none",
    "docinfo_xform": False,
    "sectsubtitle_xform": False,
    "embed_stylesheet": False,
    "stylesheet_path": "",
    "smart_quotes": False,
    "line_length_limit": 1_000_000,
}
_MOST_NOTICES = 20
_REFERENCE = "lutrin-reference"


class _Any(dict[str, Callable[[str], Any]]):
    def __missing__(self, name: str) -> Callable[[str], Any]:
        return directives.unchanged


_OPTIONS = _Any({"class": directives.unchanged})
"""Accepts any options of a directive; docutils takes a table without entries for none."""


class _Box(Directive):
    """Any directive: its title, then its text."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = _OPTIONS

    def run(self) -> Sequence[nodes.Node]:
        name = self.name.rpartition(":")[2]
        title = " ".join(self.arguments[0].split()) if self.arguments else ""
        inside = nodes.container()
        if name == "glossary":
            _join_terms(self.content)
        self.state.nested_parse(self.content, self.content_offset, inside)
        if name == "only":
            return inside.children if _ON_PAGES.search(title) else []
        if name in _SINCE:
            version, _, more = title.partition(" ")
            title = f"{_SINCE[name]} {version}{':' if more or inside.children else '.'} {more}".rstrip()
        if not title:
            return inside.children
        parsed, messages = self.state.inline_text(title, self.lineno)
        head = parsed if name in _SINCE else [nodes.strong("", "", *parsed)]
        return [nodes.paragraph("", "", *head), *messages, *inside.children]


class _Alert(Admonition):
    """A box unknown to docutils, under the name in the file."""

    required_arguments = 0
    optional_arguments = 1
    option_spec = _OPTIONS

    def run(self) -> Sequence[nodes.Node]:
        if self.arguments and not self.content:
            self.content = StringList(self.arguments[0].splitlines(), self.name)
            self.arguments = []
        self.arguments = self.arguments or [self.name.capitalize()]
        self.options = {"class": ["admonition", self.name]}
        return super().run()


class _Code(_Box):
    """Code with any options, and its caption."""

    def run(self) -> Sequence[nodes.Node]:
        block = nodes.literal_block("\n".join(self.content), "\n".join(self.content))
        # Docutils takes a class that begins with "language-" for a human language.
        block["classes"] = [f"lang-{language}" for language in self.arguments]
        caption = self.options.get("caption")
        return [nodes.paragraph("", "", nodes.emphasis("", caption)), block] if caption else [block]


class _Math(MathBlock):
    """A formula with any options."""

    option_spec = _Any({"class": directives.class_option})


class _Unseen(_Box):
    """A directive that shows nothing, or whose text in another file is missing."""

    def run(self) -> Sequence[nodes.Node]:
        if self.name in _INCLUDED:
            argument = self.arguments[0] if self.arguments else ""
            return [self.state.reporter.warning(f"includes {argument}; files are not put together", line=self.lineno)]
        return []


def parse_rst(data: bytes, filename: str, _password: str = "") -> Document:
    """Read a page of reStructuredText.

    Raises:
        DocumentError: It contains no text.
    """
    source, notices = decode(data, filename)
    _register(source)
    tree = docutils.core.publish_doctree(
        source, source_path=filename, settings_overrides=_SETTINGS | {"warning_stream": StringIO()}
    )
    notices = (*notices, *_settle(tree, filename))
    html = docutils.core.publish_from_doctree(
        tree,
        writer=docutils.writers.html5_polyglot.Writer(),
        settings_overrides=_SETTINGS | {"output_encoding": "unicode"},
    )
    soup = main_of(soup_of(html))
    for mark in soup.select("aside.footnote span.label"):
        mark.decompose()
    for label in soup.select(".citation > .label"):
        label.string = f"{label.get_text()} "
    for sidebar in soup.select("aside.sidebar"):
        sidebar["class"] = "topic"  # elsewhere it is the navigation of a site
    for title in soup.select(".admonition-title"):
        title.string = title.get_text().strip("!").capitalize() if title.get_text().isupper() else title.get_text()
    return document_of(to_markdown(soup), filename, notices=tuple(notices))


def _join_terms(lines: StringList) -> None:
    """Put the terms of Sphinx's glossary that share a definition on one line; docutils has one term for each."""
    lines.disconnect()  # the page itself stays as it is
    for place in range(len(lines) - 2, -1, -1):
        if all(line and not line[0].isspace() for line in (lines[place], lines[place + 1])):
            lines[place] = f"{lines[place]}, {lines[place + 1]}"
            lines.pop(place + 1)


def _register(source: str) -> None:
    """Register every directive and role of a page; the process reads this page alone."""
    for name in {name.lower() for name in _DIRECTIVE.findall(source)}:
        bare = name.rpartition(":")[2]
        if name in _UNSEEN or name in _INCLUDED:
            directives.register_directive(name, _Unseen)
        elif bare in _CODE:
            directives.register_directive(name, _Code)
        elif bare == "math":
            directives.register_directive(name, _Math)
        elif name not in en.directives:
            directives.register_directive(name, _Alert if bare in BOXES else _Box)
    for name in {name.lower() for pair in _ROLE.findall(source) for name in pair if name}:
        if name not in en.roles:
            roles.register_local_role(name, _role)  # type: ignore[arg-type]  # the stubs know roles that make links


def _role(
    name: str, rawtext: str, text: str, _lineno: int, _inliner: object, _options: object = None, _content: object = None
) -> tuple[list[nodes.Node], list[nodes.Node]]:
    """The visible words of one of Sphinx's roles."""
    bare = name.rpartition(":")[2]
    plain = nodes.unescape(text)
    classes = []
    if target := _TARGET.fullmatch(plain):
        plain = target[1].rstrip()
    elif bare == "ref":
        classes = [_REFERENCE]
    elif bare == "doc":
        plain = plain.rpartition("/")[2].replace("-", " ").replace("_", " ")
    elif bare in _CODE_ROLES:
        plain = plain.lstrip("!")
        plain = plain.rpartition(".")[2] if plain.startswith("~") else plain
        return [nodes.literal(rawtext, f"{plain}()" if bare in {"func", "meth"} and plain[-1:] != ")" else plain)], []
    return [nodes.inline(rawtext, plain, classes=classes)], []


def _settle(tree: nodes.document, filename: str) -> list[Notice]:
    """Remove docutils' messages from a tree, and give references the titles of their targets."""
    first = next((child for child in tree.children if not isinstance(child, nodes.title | nodes.Invisible)), None)
    if isinstance(first, nodes.field_list | nodes.docinfo):
        tree.remove(first)  # what Sphinx reads as settings of the page
    for image in tree.findall(nodes.image):
        image.setdefault("alt", "")  # its writer shows the file's name instead
    for kind in tree.findall(nodes.classifier):
        kind.insert(0, nodes.Text(" : "))  # which the style sheet of docutils puts between a term and its kind
    notices: list[Notice] = []
    for message in [*tree.findall(nodes.system_message), *tree.transform_messages]:
        text = " ".join(message.children[0].astext().split()) if message.children else ""
        if text and len(notices) < _MOST_NOTICES and message.get("level", 0) >= _SETTINGS["report_level"]:
            notices.append(Notice(filename=filename, message=text[:200], line=message.get("line")))
        if message.parent is not None:
            message.parent.remove(message)
    tree.transform_messages.clear()
    for section in [*tree.findall(nodes.section)]:
        if "system-messages" in section["classes"]:
            section.parent.remove(section)
    for problem in [*tree.findall(nodes.problematic)]:
        problem.parent.replace(problem, nodes.Text(problem.astext().strip("`_:|")))
    for reference in [*tree.findall(lambda node: isinstance(node, nodes.inline) and _REFERENCE in node["classes"])]:
        name = nodes.fully_normalize_name(reference.astext())
        target = tree.ids.get(tree.nameids.get(name) or "")
        titles = (
            target.findall(lambda node: isinstance(node, nodes.title | nodes.caption)) if target is not None else ()
        )
        title = next(iter(titles), None)
        label = title.astext() if title is not None else reference.astext().replace("-", " ").replace("_", " ")
        reference.parent.replace(reference, nodes.Text(label))
    return notices
