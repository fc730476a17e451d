"""All texts for readers are in `messages.py`, so that another language of the answers and pages is one file."""

import ast
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from lutrin import messages
from lutrin.serve.templating import say

SRC = Path(__file__).parents[1] / "src"
ROOMS = ("lutrin/answer", "lutrin/query", "lutrin/search", "lutrin/serve", "lutrin/study", "lutrin_teacher")
"""What speaks to pupils and teachers. Commands, the log and the API's description speak to operators and programs."""
NOT_READ = {
    "lutrin/answer/listing.py": "questions that are compared",
    "lutrin/answer/prompt.py": "the model reads it",
    "lutrin/answer/evidence.py": "a question that is embedded",
    "lutrin/search/extremes.py": "questions that are embedded",
    "lutrin/serve/app.py": "the operator reads it, in the terminal",
    "lutrin/serve/connections.py": "goes with a status to a program that sends too much",
    "lutrin/serve/limits.py": "the operator reads it, in the terminal",
    "lutrin/serve/metrics.py": "Prometheus shows it",
    "lutrin/serve/openapi.py": "describes the API",
    "lutrin/serve/probe.py": "`/ready` tells the operator",
    "lutrin/serve/problems.py": "describes the API",
    "lutrin/serve/routes/answers.py": "describes the API",
    "lutrin/serve/tools.py": "describes tools to other programs",
    "lutrin_teacher/companion_commands.py": "a command",
    "lutrin/study/edit.py": "a command",
    "lutrin_teacher/judge.py": "the model reads it",
    "lutrin_teacher/study_job.py": "a command",
    "lutrin_teacher/trial.py": "questions that are asked for a trial",
    "lutrin_teacher/write.py": "the model reads it, and a command",
}
"""Modules that may hold sentences, and why no reader sees them as texts of the page."""
DESCRIBES = frozenset("operation _asking compile debug info warning error QueryParameter Parameter Meta".split())
"""Calls whose texts describe the API, spell a pattern, or go to the log; remedies are the operator's."""
OF_PROGRAMS = frozenset("TypeError ValueError KeyError RuntimeError".split())
"""Errors that say to programmers what they did wrong."""
SENTENCE = re.compile(r"^\W*[A-Z][a-z’']+,? [\w{]|^\W*[A-Z][\w ]+[.?!…]$|[a-z]{2,} [a-z]{2,}[^<>]*[.?!…]$")
"""Two words and a capital in front, or a full stop behind: what is said to somebody, not a name or a key."""


def sentences(source: str) -> Iterator[str]:
    """The texts of a module that read like sentences or titles; `{}` stands for what is filled in."""
    tree = ast.parse(source)
    passed = set()
    for node in ast.walk(tree):
        is_told = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant | ast.JoinedStr)
        if is_told or (isinstance(node, ast.Call) and called(node) in DESCRIBES | OF_PROGRAMS):
            passed |= {id(part) for part in ast.walk(node)}
        elif isinstance(node, ast.keyword) and node.arg in {"remedy", "description"}:
            passed |= {id(part) for part in ast.walk(node.value)}
        elif isinstance(node, ast.JoinedStr):
            passed |= {id(part) for part in node.values}
        elif isinstance(node, ast.arg | ast.AnnAssign | ast.FunctionDef | ast.AsyncFunctionDef):
            notes = [node.returns] if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else [node.annotation]
            passed |= {id(part) for note in notes if note is not None for part in ast.walk(note)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in passed:
            text = said(node)
            if SENTENCE.search(text):
                yield text


def called(node: ast.Call) -> str:
    """The last part of the name of what is called."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def said(node: ast.Constant | ast.JoinedStr) -> str:
    """A text of the source."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) and isinstance(part.value, str) else "{}" for part in parts
    )


def test_no_sentence_for_readers_stands_in_code() -> None:
    """A module that needs one names it in `messages.py`, or says above why no reader sees it."""
    found = {
        (name, text)
        for room in ROOMS
        for path in sorted((SRC / room).rglob("*.py"))
        if (name := path.relative_to(SRC).as_posix()) not in NOT_READ
        for text in sentences(path.read_text("utf-8"))
    }
    assert found == set()


def test_every_exception_is_needed() -> None:
    """A module that holds no sentence any more needs no excuse."""
    assert [name for name in NOT_READ if not list(sentences((SRC / name).read_text("utf-8")))] == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('raise InvalidInput("Choose a page.")', ["Choose a page."]),
        ('title = f"The book has {count} pages"', ["The book has {} pages"]),
        ('KINDS = {"gap": "Fill the gap"}', ["Fill the gap"]),
        ('"""Say what is there."""\nname = "page.html"', []),
        ('_log.info("The book was read.")\nraise ValueError("no such page here.")', []),
    ],
)
def test_sentences_are_told_from_names(source: str, expected: list[str]) -> None:
    """Docstrings, the log and errors of programmers are none of the reader's."""
    assert list(sentences(source)) == expected


def test_every_key_is_used() -> None:
    """A text that nothing says goes."""
    sources = [path.read_text("utf-8") for path in SRC.rglob("*.py") if path.name != "messages.py"]
    read = {name for source in sources for name in re.findall(r"\b[A-Z][A-Z0-9_]+\b", source)}
    assert {name for name in vars(messages) if name.isupper()} - read == set()


def texts_of(value: object) -> Iterator[str]:
    """The texts of a constant: itself, or those that it holds."""
    if isinstance(value, str):
        yield value
    else:
        assert isinstance(value, dict | tuple)
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts_of(part)


def test_what_is_filled_in_has_a_name() -> None:
    """A translation may put `{title}` elsewhere; a bare `{}` could not move."""
    texts = [text for name, value in vars(messages).items() if name.isupper() for text in texts_of(value)]
    assert len(texts) > 150
    fields = [field for text in texts for _, field, _, _ in string.Formatter().parse(text) if field is not None]
    assert all(field.isidentifier() for field in fields), fields


HIDDEN = re.compile(r"\{#.*?#\}|<!--.*?-->", re.DOTALL)
FILLED = re.compile(r"\{\{.*?\}\}", re.DOTALL)
MARKUP = re.compile(r"<[^>]*>|\{%.*?%\}", re.DOTALL)
WORD = re.compile(r"[A-Za-z]{2}")
LABEL = re.compile(r"(?:aria-label|placeholder|title|alt)=\"([^\"]*)\"")
IN_EXPRESSION = re.compile(r"\{[{%](.*?)[%}]\}", re.DOTALL)
LITERAL = re.compile(r"(?<![=!]= )\"([A-Z][a-z]+[^\"]*|[a-z]+ [a-z][^\"/=<>]*)\"")
"""A text that an expression of a template chooses: "Write the answer" if nothing was answered."""
SAID = re.compile(r"\bsay\(\"([^\"]+)\"")
TEMPLATES = sorted(SRC.rglob("templates/*.html"))
SCRIPTS = sorted(SRC.rglob("static/*.js"))
"""Those of the pages; the widget's texts are in `web/widget/src/texts.ts`."""
SCRIPT_COMMENT = re.compile(r"/\*.*?\*/|(?<=\s)//[^\n]*|^//[^\n]*", re.DOTALL | re.MULTILINE)
QUOTED = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'|`([^`\n]*)`")
FILLED_IN = re.compile(r"\$\{[^{}]*\}")
WORDS = re.compile(r"^\W*[A-Z][a-z]+\b|[a-z]{2,} [a-z]{2,}|\{\} [a-z]{2,}")
"""A word with a capital in front, or two words, or what is counted."""
OF_SCRIPTS = {
    *("Escape", "Accept"),  # a key and a header
    *("article img[loading=lazy]", "article :is(h2, h3)[id], article section.page[id]"),  # selectors
    *("pin written", "sheet noted", "drawer notebook", "{}px auto auto {}px"),  # for style sheets
    "no connection",  # of an error that nobody sees
}
"""Texts in scripts that no reader sees."""
TEXT_OF = re.compile(r"\btextOf\(([^)]*)")
KEY = re.compile(r"[\"']([a-z]+\.[a-z_]+)[\"']")
COUNT_OF = re.compile(r"\b(?:count_?[oO]f|counted)\((?:[^()\"']|\([^()]*\))*, [\"']([a-z]+)[\"']\)")


def shown(template: str) -> list[str]:
    """The texts that a template holds: between its tags, in labels, and in what its expressions choose from."""
    seen = SAID.sub("say(", HIDDEN.sub("", template))
    chosen = [text for code in IN_EXPRESSION.findall(seen) for text in LITERAL.findall(code)]
    plain = FILLED.sub("{}", seen)
    runs = [*MARKUP.split(plain), *LABEL.findall(plain)]
    return [*(run.strip() for run in runs if WORD.search(run)), *chosen]


def test_a_template_says_what_messages_hold() -> None:
    """No text is in a template, and each that it asks for is there; none is there that no template asks for."""
    sources = [path.read_text("utf-8") for path in TEMPLATES]
    assert len(sources) > 25
    assert [text for source in sources for text in shown(source)] == []
    assert {key for source in sources for key in SAID.findall(source)} == set(messages.PAGE_TEXTS)


@pytest.mark.parametrize(
    "template",
    [
        "<p>Read on</p>",
        '<a title="Read on"></a>',
        '{{ "Read on" if more == "as it is" }}',
        "<p>{{ n }} of them</p>",
        '{% set a = "the book" %}',
    ],
)
def test_a_text_in_a_template_is_seen(template: str) -> None:
    """Between tags, as a label, or chosen by an expression."""
    assert len(shown(template)) == 1


def test_values_are_escaped_and_markup_stays() -> None:
    """A book's title cannot bring tags; a text of ours may."""
    assert say("shelf.contents_of", title="<b>") == "Contents of &lt;b&gt;"
    assert "<code>companion.jsonl</code>" in say("study_study.this_book_has_nothing_to")


def spoken(script: str) -> list[str]:
    """The texts of a script that read like words for somebody; `{}` stands for what is filled in."""
    quoted = QUOTED.findall(SCRIPT_COMMENT.sub("", script))
    texts = [FILLED_IN.sub("{}", "".join(text)) for text in quoted]
    return [text for text in texts if WORDS.search(text)]


def test_a_script_says_what_messages_hold() -> None:
    """No text is in a script, and each that it asks for is there; none is there that no script asks for."""
    sources = [path.read_text("utf-8") for path in SCRIPTS]
    assert len(sources) > 5
    assert {text for source in sources for text in spoken(source)} == OF_SCRIPTS
    keys = {key for source in sources for asked in TEXT_OF.findall(source) for key in KEY.findall(asked)}
    assert keys == set(messages.SCRIPT_TEXTS)


@pytest.mark.parametrize(
    "script",
    [
        'said.textContent = "Copied";',
        "said.textContent = `${files.length} files`;",
        'el("p", {}, isHere ? "the whole book" : "");',
        "button('Delete', act);",
    ],
)
def test_a_text_in_a_script_is_seen(script: str) -> None:
    """With any quotes, also a single word."""
    assert len(spoken(f"{script} // Read on.\n/* Read on. */")) == 1


def test_every_noun_that_is_counted_has_its_forms() -> None:
    """In templates, code and scripts; and no form is unused."""
    sources = [path.read_text("utf-8") for path in (*SRC.rglob("*.py"), *TEMPLATES, *SCRIPTS)]
    assert {noun for source in sources for noun in COUNT_OF.findall(source)} == set(messages.COUNTED)
    forms = [value for name, value in vars(messages).items() if name.isupper() and isinstance(value, dict)]
    forms = [*(value for value in forms if "other" in value), *messages.COUNTED.values()]
    assert len(forms) > len(messages.COUNTED)
    assert {tuple(form) for form in forms} == {tuple(dict.fromkeys(map(messages.plural, (1, 2))))}
