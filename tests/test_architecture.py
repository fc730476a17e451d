"""The arrows between the rooms of the house: read from the imports, function-local ones too."""

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from lutrin.language.lexicon import ASKING, QUESTION_WORDS, STOP_WORDS

SRC = Path(__file__).parents[1] / "src"
CORE = "lutrin"
MODULES = {
    ".".join(part for part in path.relative_to(SRC).with_suffix("").parts if part != "__init__"): path
    for path in sorted(SRC.rglob("*.py"))
}

LEAVES = {
    "lutrin.errors", "lutrin.records", "lutrin.platform", "lutrin.messages", "lutrin.retry", "lutrin.stages",
    "lutrin.threads", "lutrin.installed", "lutrin.fairness", "lutrin.prepared", "lutrin.spreadsheet",
}  # fmt: skip
TOP = {
    "api",
    "background",
    "errors",
    "fairness",
    "guest_ports",
    "guests",
    "installed",
    "log",
    "messages",
    "platform",
    "ports",
    "prepared",
    "records",
    "retry",
    "settings",
    "spreadsheet",
    "sqlite",
    "stages",
    "threads",
}
STAGES = ("language", "ingest", "index", "query", "search", "answer", "study", "generate", "chats")
# What each stage may use of the others: the direction of the house, corpus -> ingest -> index -> retrieve -> answer.
ALLOWED = {
    "language": {"language"},
    "query": {"query", "language"},
    "ingest": {"ingest", "index"},
    "index": {"index"},
    "search": {"search", "query", "language", "index", "ingest"},
    "answer": {"answer", "search", "query", "language", "index", "ingest"},
    "study": {"study", "answer", "search", "query", "language", "index", "ingest"},
    "generate": {"generate"},
    "chats": {"chats"},
}
WIRING = {"runtime"}
"""The room that knows profiles."""
VENDORS = {
    "chromadb": {"lutrin.adapters.index_chroma"},
    "fastembed": {"lutrin.adapters.embed_fastembed", "lutrin.adapters.rerank"},
    "llama_cpp": {"lutrin.adapters.llamacpp"},
    "qdrant_client": {"lutrin_remote.index_qdrant"},
    "openai": {"lutrin_remote.remote_openai"},
    "asyncpg": {"lutrin_remote.index_pgvector", "lutrin_remote.postgres_books", "lutrin_remote.postgres_chats"},
    "cryptography": {"lutrin.chats.key"},
    "litestar": {
        "lutrin.serve",
        "lutrin_teacher.assignments",
        "lutrin_teacher.teacher",
        "lutrin_teacher.teacher_books",
    },
    "mcp": {"lutrin.serve.tools"},
    "mistune": {"lutrin.ingest"},
    "pdfminer": {"lutrin_formats.pdf_glyphs"},
    "pypdf": {"lutrin_formats.pdf"},
    "pypdfium2": {"lutrin_formats.ocr"},
    "rapidocr": {"lutrin_formats.ocr"},
    "bs4": {"lutrin.ingest"},
    "docutils": {"lutrin_formats.rst"},
    "mammoth": {"lutrin_formats.docx"},
    "markdownify": {"lutrin.ingest"},
    "charset_normalizer": {"lutrin.ingest"},
    "webencodings": {"lutrin.ingest.decoding"},
    "click": {"lutrin.cli", "lutrin_teacher.companion_commands"},
    "genanki": {"lutrin.study.take_away"},
    "aiosqlite": {"lutrin.chats.engine", "lutrin.index.shelf"},
    "sqlmodel": {"lutrin.chats", "lutrin.index.definitions"},
    "sqlalchemy": {"lutrin.chats", "lutrin.index.definitions"},
}


@cache
def imports(name: str) -> set[str]:
    """Absolute names of everything that a module imports, at any depth of its code."""
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: relative import"
            module = node.module or ""
            found |= {
                f"{module}.{alias.name}" if f"{module}.{alias.name}" in MODULES else module for alias in node.names
            }
    return found


def own(name: str) -> set[str]:
    """The modules of Lutrin that a module imports."""
    return {item for item in imports(name) if item in MODULES and item != name}


def room(name: str) -> str:
    """The first part of a module's name below `lutrin`; of a guest, its package."""
    package, *parts = name.split(".")
    return package if package != CORE else parts[0] if parts else ""


GUESTS = {
    # A format that comes as HTML, or as Markdown, or as lines of a page goes through the readers of these.
    "lutrin_formats": {
        "lutrin.ingest.anchors", "lutrin.ingest.decoding", "lutrin.ingest.formats", "lutrin.ingest.formulas",
        "lutrin.ingest.html_view", "lutrin.ingest.hypertext", "lutrin.ingest.labels", "lutrin.ingest.makers",
        "lutrin.ingest.markdown", "lutrin.ingest.sentences", "lutrin.ingest.wording",
    },
    # PostgreSQL keeps the tables of conversations that SQLCipher keeps, sealed with the same key.
    "lutrin_remote": {"lutrin.chats.engine", "lutrin.chats.key", "lutrin.chats.store", "lutrin.chats.tables"},
    # One module for each entry point that is no port, and the words and fitted decisions that answers are told by.
    "lutrin_teacher": {
        "lutrin.cli.console", "lutrin.ingest.formats", "lutrin.language.words", "lutrin.log", "lutrin.search.result",
        "lutrin.serve.guest_pages", "lutrin.serve.problems", "lutrin.serve.templating",
    },
}  # fmt: skip
"""The packages beside the core, and the modules that each may know of it besides leaves, ports and settings."""

FOR_GUESTS = {"lutrin", "lutrin.ports", "lutrin.guest_ports", "lutrin.settings"}
"""What every guest may know besides leaves."""


def test_the_core_imports_no_guest() -> None:
    """Guests come in by entry points alone (`lutrin.guests`)."""
    for name in (module for module in MODULES if module.split(".")[0] == CORE):
        assert not {item for item in imports(name) if item.split(".")[0] in GUESTS}, name


def test_a_guest_knows_ports_and_its_own_stage_alone() -> None:
    """An outside package can do the same as ours; no guest imports another."""
    for name in (module for module in MODULES if module.split(".")[0] != CORE):
        package = name.split(".")[0]
        doors = {*LEAVES, *FOR_GUESTS, *GUESTS[package]}
        wrong = {item for item in own(name) if item not in doors and item.split(".")[0] != package}
        assert not wrong, name


def test_every_door_is_used() -> None:
    """A part of the core that no guest needs any more is closed to it."""
    for package, doors in GUESTS.items():
        imported = {item for name in MODULES if name.split(".")[0] == package for item in own(name)}
        assert doors <= imported, package


def test_leaves_import_nothing_of_ours() -> None:
    """`errors`, `records`, `messages`, `retry` and `stages` can be read alone."""
    assert {leaf: own(leaf) for leaf in LEAVES} == {leaf: set() for leaf in LEAVES}


def test_ports_know_records_alone() -> None:
    """An implementation or a user of a port needs no other module of ours."""
    for name in ("lutrin.ports", "lutrin.guest_ports"):
        assert own(name) <= {*LEAVES, "lutrin.ports", "lutrin.settings"}, name


def test_stages_follow_the_direction() -> None:
    """A stage imports leaves, ports, settings, log and earlier stages, nothing else of ours."""
    for name in (module for module in MODULES if room(module) in STAGES):
        common = LEAVES | {
            f"lutrin{name}" for name in ("", ".ports", ".settings", ".log", ".sqlite", ".background", ".guests")
        }
        wrong = {item for item in own(name) if item not in common and room(item) not in ALLOWED[room(name)]}
        assert not wrong, name


def test_a_question_is_understood_without_book_or_settings() -> None:
    """The query needs the language, the records, the messages and the ports alone."""
    for name in (module for module in MODULES if room(module) == "query"):
        allowed = {"lutrin", "lutrin.records", "lutrin.messages", "lutrin.ports", "lutrin.errors"}
        assert not {item for item in own(name) if item not in allowed and room(item) not in {"query", "language"}}, name


def test_adapters_know_ports_only() -> None:
    """An adapter imports ports, leaves, settings and its fellow adapters, never a stage."""
    for name in (module for module in MODULES if room(module) == "adapters"):
        wrong = {item for item in own(name) if room(item) in {*STAGES, *WIRING, "serve", "cli"}}
        assert not wrong, name


def test_the_server_knows_no_adapter() -> None:
    """The server gets its services as arguments."""
    for name in (module for module in MODULES if room(module) == "serve"):
        assert not {item for item in own(name) if room(item) in {"adapters", "cli", *WIRING}}, name


def test_only_wiring_sees_adapters() -> None:
    """Profiles are chosen in one place."""
    users = {name for name in MODULES if any(room(item) == "adapters" for item in own(name))}
    assert {name for name in users if room(name) not in {"adapters", *WIRING, *GUESTS}} == set()


def test_vendor_packages_stay_in_their_adapter() -> None:
    """Changing a library touches one module."""
    for vendor in sorted(VENDORS):
        users = {name for name in MODULES if any(item.split(".")[0] == vendor for item in imports(name))}
        wrong = {
            name for name in users if not any(name == home or name.startswith(f"{home}.") for home in VENDORS[vendor])
        }
        assert not wrong, vendor


def test_the_judge_is_no_part_of_the_program() -> None:
    """Only the commands that need it know the package `evaluation`, which no wheel holds."""
    users = {name for name in MODULES if any(item.split(".")[0] == "evaluation" for item in imports(name))}
    assert users == {"lutrin.cli.models"}


def test_every_module_has_its_room() -> None:
    """At the top are only modules that every room may need; all others are in a room that the tests above cover."""
    rooms = {*STAGES, *WIRING, "adapters", "cli", "keep", "serve", *GUESTS}
    assert {room(name) for name in MODULES} <= {"", *TOP, *rooms}


RUNNING = {"eval", "exec", "compile", "__import__", "os.system", "os.popen"}
"""Calls by which a text becomes a program."""


def test_nothing_of_a_book_is_run() -> None:
    """Code that reads or shows files of a book evaluates no text, starts no shell and unpickles nothing."""
    readers = [name for name in MODULES if room(name) in {"ingest", "serve", *GUESTS}]
    assert len(readers) > 60
    for name in readers:
        calls = [node for node in ast.walk(ast.parse(MODULES[name].read_text("utf-8"))) if isinstance(node, ast.Call)]
        assert RUNNING.isdisjoint(ast.unparse(call.func) for call in calls), name
        assert "shell" not in {word.arg for call in calls for word in call.keywords}, name
        assert {"pickle", "marshal", "runpy"}.isdisjoint(item.split(".")[0] for item in imports(name)), name


def test_no_two_modules_have_one_name() -> None:
    """The name "plan.py" means one file."""
    names = [name.rpartition(".")[2] for name, path in MODULES.items() if path.name != "__init__.py"]
    assert [name for name in sorted(set(names)) if names.count(name) > 1] == []


def test_no_cycles() -> None:
    """Every module can be understood before those that use it."""
    graph = {name: own(name) - {"lutrin"} for name in MODULES}
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join((*path, name))
        if name not in done:
            for item in sorted(graph[name]):
                visit(item, (*path, name))
            done.add(name)

    for name in graph:
        visit(name, ())


ANSWERING = sorted(name for name in MODULES if room(name) in {"query", "search", "answer"})
"""What a question passes on its way to an answer. Meaning is for the reader model: its rules by hand stay few."""
LIMIT_NAMES = re.compile(r"^_?(?:MOST|MAX|LONGEST|LIMIT|KEPT|ENCODED)(?:_|$)|_(?:S|WORDS|TOKENS|CHARS|CHARACTERS)$")
"""Names of constants that bound a time, a length or a number of things."""
_WORD_OF_PATTERN = re.compile(r"\(\?P<\w+>|\\[a-zA-Z]|[a-z]{3,}")


def numbers_by_hand(name: str) -> Iterator[float]:
    """The numbers in a module's code besides -2 to 2 and those that a named limit is set to."""
    for statement in ast.parse(MODULES[name].read_text(encoding="utf-8")).body:
        targets = statement.targets if isinstance(statement, ast.Assign) else ()
        named = [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
        if named and all(map(LIMIT_NAMES.search, named)):
            continue
        for node in ast.walk(statement):
            value = node.value if isinstance(node, ast.Constant) and not isinstance(node.value, bool) else None
            if isinstance(value, int | float) and value not in {0, 1, 2}:
                yield value


def english_patterns(name: str) -> Iterator[str]:
    """The compiled patterns of a module, tables of them included, that spell a function or question word of English."""
    held = vars(importlib.import_module(name))
    tables = [
        value.values() for value in held.values() if isinstance(value, dict) and value is not held["__builtins__"]
    ]
    for value in [*held.values(), *(item for table in tables for item in table)]:
        if isinstance(value, re.Pattern):
            spelt = set(_WORD_OF_PATTERN.findall(value.pattern))
            if not spelt.isdisjoint(STOP_WORDS | QUESTION_WORDS | ASKING):
                yield value.pattern


def test_few_numbers_are_set_by_hand() -> None:
    """At most 60 on that way that bound no time, length or number of things; fitted ones lie in data files."""
    assert len([number for name in ANSWERING for number in numbers_by_hand(name)]) <= 60


def test_few_patterns_spell_english() -> None:
    """At most 40 on that way, wherever their words are listed."""
    assert len({pattern for name in ANSWERING for pattern in english_patterns(name)}) <= 40
