"""Commands, files and settings that the documents name exist."""

import re
import shlex
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click

from lutrin import __version__
from lutrin.cli.main import with_guests

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob("bench/*.md")),
    *sorted(ROOT.glob("web/*/README.md")),
    ROOT / "training" / "README.md",
]
PAST = {"CHANGELOG.md"}
"""Pages that also name what is gone."""
GENERATED = {"THIRD_PARTY.md", "commands.md"}
"""Pages whose own tests hold them against the program."""
COMMANDS = [page for page in PAGES if page.name not in PAST | GENERATED]
LINK = re.compile(r"\]\(([^)\s]+)\)|<img src=\"([^\"]+)\"")
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:^|\n\n)((?:(?: {4,}).+\n?)+)")
INLINE = re.compile(r"`([^`\n]+(?:\n[^`\n]+)?)`")
SETTING = re.compile(r"\bLUTRIN_[A-Z_]+[A-Z]\b")
ENDPOINT = re.compile(r"\b(?:GET|POST|PATCH|DELETE) (/[\w./{}-]*)")
ADDRESS = re.compile(r"http://127\.0\.0\.1:7860(/[\w./{}-]*)?")
SHELL = {"", "sh", "bash", "text"}
HANDED_ON = {"sudo", "nice", "env", "nohup"}


def name(page: Path) -> str:
    """A page's path, as a test's id."""
    return page.relative_to(ROOT).as_posix()


def blocks(text: str) -> Iterator[str]:
    """The lines of a page's blocks of commands, those that end in a backslash put together."""
    for _, language, body in FENCE.findall(text):
        if language in SHELL:
            yield from body.replace("\\\n", " ").splitlines()
    for body in INDENTED.findall(FENCE.sub("", text)):
        yield from body.replace("\\\n", " ").splitlines()


def typed(text: str) -> Iterator[list[str]]:
    """Every command of a page as words: program first, without what is set before it."""
    prose = FENCE.sub("", text)
    lines = [*blocks(text), *(span.replace("\n", " ").replace("\\|", "|") for span in INLINE.findall(prose))]
    for line in lines:
        for part in re.split(r"&&|;|(?<=\s)[|&](?=\s)", line):
            try:
                words = shlex.split(part, comments=True)
            except ValueError:
                continue
            while words and (re.match(r"^[A-Za-z_]+=", words[0]) or words[0] in HANDED_ON):
                words = words[1:]
            if words:
                yield words


@cache
def recipes() -> frozenset[str]:
    """The recipes of `just`."""
    just = Path(sys.executable).with_name("just")
    told = subprocess.run([just, "--summary"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60).stdout
    return frozenset(told.split())


def wrong(words: list[str]) -> str:
    """The fault of a command, if it is one of ours."""
    program, *rest = words
    if program == "lutrin" and rest and re.match(r"[a-z-]", rest[0]):
        return wrong_lutrin(rest)
    if program in {"./justw", "just"} and rest and rest[0] not in {"RECIPE", "--list"}:
        return wrong_recipe(rest)
    if program in {"python", "python3"} and rest:
        return wrong_program(rest)
    if program == "pytest":
        paths = [word.partition("::")[0] for word in rest if word.startswith("tests/")]
        return "".join(f"no {path}" for path in paths if not (ROOT / path).exists())
    return ""


def wrong_lutrin(words: list[str]) -> str:
    """A command or an option that `lutrin` does not have."""
    found: click.Command = with_guests()
    while isinstance(found, click.Group) and words and not words[0].startswith("-"):
        names = words[0].split("|")
        if any(one not in found.commands for one in names):
            return f"no command {words[0]}"
        found, words = found.commands[names[0]], words[1:]
    options = {name for option in found.params if isinstance(option, click.Option) for name in option.opts}
    options |= {"--help", "--data-dir"} | ({"--version"} if found is with_guests() else set())
    unknown = [word for word in words if re.match(r"--?[a-z]", word) and word.partition("=")[0] not in options]
    return f"no option {unknown[0]}" if unknown else ""


def wrong_recipe(words: list[str]) -> str:
    """A recipe, or a script named by its argument, that is not there."""
    recipe = words[0].rstrip(".,")
    if recipe not in recipes():
        return f"no recipe {recipe}"
    if recipe == "bench" and len(words) > 1 and words[1].islower() and not (ROOT / f"bench/{words[1]}.py").is_file():
        return f"no bench/{words[1]}.py"
    return ""


def wrong_program(words: list[str]) -> str:
    """A script or module that is not there."""
    if words[0] != "-m":
        return f"no {words[0]}" if words[0].endswith(".py") and not (ROOT / words[0]).is_file() else ""
    if words[1].split(".")[0] not in {"bench", "evaluation", "training", "tests", "corpus", "lutrin", "loadtests"}:
        return ""
    place = ROOT / words[1].replace(".", "/")
    return "" if place.with_suffix(".py").is_file() or (place / "__main__.py").is_file() else f"no module {words[1]}"


def test_every_command_of_a_page_can_be_typed() -> None:
    """Commands, options, recipes, scripts and modules exist, in blocks and within sentences."""
    for page in COMMANDS:
        found = [(" ".join(words), problem) for words in typed(page.read_text("utf-8")) if (problem := wrong(words))]
        assert found == [], page


def test_the_pages_for_people_have_commands() -> None:
    """The test above has commands to check."""
    ours = {"lutrin", "just", "./justw", "python", "curl"}
    for page in ("README.md", "docs/operating.md", "docs/teacher.md", "docs/integrating.md", "docs/scaling.md"):
        assert any(words[0] in ours for words in typed((ROOT / page).read_text("utf-8"))), page


def test_a_wrong_command_is_noticed() -> None:
    """A command, an option, a recipe, a bench, a module and a script that are not there."""
    line = (
        "`lutrin inges` `lutrin ingest --fast` `./justw srve` `just bench speed` `python -m evaluation.x` `python x.py`"
    )
    assert [wrong(words) for words in typed(line)] == [
        "no command inges",
        "no option --fast",
        "no recipe srve",
        "no bench/speed.py",
        "no module evaluation.x",
        "no x.py",
    ]


def anchors(page: Path) -> set[str]:
    """The fragments of a page: each heading as GitHub makes an address of it."""
    found = set()
    for heading in re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text("utf-8")), re.MULTILINE):
        plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        kept = "".join(mark for mark in plain if mark in " -_" or unicodedata.category(mark)[0] in "LN")
        found.add(kept.replace(" ", "-"))
    return found


def test_every_promise_about_security_names_the_test_that_shows_it() -> None:
    """Each line on a protection or a limit names an existing test."""
    holds, _, fails = (ROOT / "docs" / "security.md").read_text("utf-8").partition("## What does not hold")
    for part, least in ((holds, 60), (fails, 12)):
        lines = re.findall(r"^- (.*(?:\n  .*)*)", part, re.MULTILINE)
        shown = [re.findall(r"`((?:tests|web/tests)/[\w/.]+(?:::\w+)?)`", line) for line in lines]
        assert len(lines) > least
        assert [line for line, tests in zip(lines, shown, strict=True) if not tests] == []
        assert [test for tests in shown for test in tests if not is_test(test)] == []


def is_test(place: str) -> bool:
    """Whether there is such a test in Python, or such a file of tests in TypeScript."""
    path, _, wanted = place.partition("::")
    text = (ROOT / path).read_text("utf-8") if (ROOT / path).is_file() else ""
    if path.endswith(".test.ts"):
        return bool(text)
    return wanted != "" and re.search(rf"^(?:async )?def {wanted}\(", text, re.MULTILINE) is not None


def test_every_link_of_a_page_leads_somewhere() -> None:
    """It leads to a file or folder of the repository, and to an existing heading if it names one."""
    for page in PAGES:
        broken = []
        prose = INLINE.sub(lambda code: "" if "](" in code[0] else code[0], FENCE.sub("", page.read_text("utf-8")))
        for groups in LINK.findall(prose):
            target = groups[0] or groups[1]
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            place = (page.parent / path).resolve() if path else page
            if not place.exists() or (anchor and anchor not in anchors(place)):
                broken.append(target)
        assert broken == [], page


def test_every_setting_that_a_page_names_is_read_somewhere() -> None:
    """A setting that has gone stays in no page."""
    read = ROOT.joinpath(".env.example").read_text("utf-8")
    for pattern in (
        "src/**/*.py",
        "requirements/*.py",
        "tests/**/*.py",
        "compose.yaml",
        "Caddyfile",
        "justfile",
        "justw",
    ):
        read += "".join(path.read_text("utf-8") for path in ROOT.glob(pattern) if path != Path(__file__))
    known = set(SETTING.findall(read))
    named = {(name(page), word) for page in COMMANDS for word in SETTING.findall(page.read_text("utf-8"))}
    assert len(named) > 30
    assert {(page, word) for page, word in named if word not in known} == set()


def test_every_address_that_a_page_names_is_served() -> None:
    """Endpoints in tables and addresses in commands, of every page."""
    served = {"/schema", "/schema/openapi.json", "/v1"}
    for path in (ROOT / "src").rglob("*.py"):
        served |= set(re.findall(r"@(?:get|post|patch|delete|asgi)\([^)]*?\"(/[^\"]*)\"", path.read_text("utf-8")))
        for several in re.findall(r"@(?:get|post|patch|delete)\(\s*\[([^\]]*)\]", path.read_text("utf-8")):
            served |= set(re.findall(r"\"(/[^\"]*)\"", several))
    shapes = [re.compile(re.sub(r"\{\w+:path\}", ".+", re.sub(r"\{\w+(:\w+)?\}", "[^/]+", path))) for path in served]
    named = set()
    for page in COMMANDS:
        text = page.read_text("utf-8")
        named |= {
            (name(page), found.rstrip(".")) for found in (*ENDPOINT.findall(text), *ADDRESS.findall(text)) if found
        }
    assert len(named) > 15
    assert {(page, path) for page, path in named if not any(shape.fullmatch(path) for shape in shapes)} == set()


def test_the_architecture_is_drawn_from_the_imports() -> None:
    """`docs/architecture.svg` is what its program draws now; `./justw docs` writes it."""
    program = [sys.executable, str(ROOT / "docs" / "architecture.py")]
    drawn = subprocess.run(program, capture_output=True, text=True, check=True, timeout=60).stdout
    assert (ROOT / "docs" / "architecture.svg").read_text("utf-8") == drawn


def test_every_library_is_named_with_its_role() -> None:
    """The page on choices has each package that the program depends on."""
    table = (
        (ROOT / "docs" / "choices.md")
        .read_text("utf-8")
        .partition("\n## Built with\n")[2]
        .partition("\n## ")[0]
        .lower()
    )
    packages = re.findall(r"^([a-z0-9.-]+)", (ROOT / "requirements" / "runtime.in").read_text("utf-8"), re.MULTILINE)
    missing = [package for package in packages if package.replace("-", "").lower() not in table.replace("-", "")]
    assert len(packages) > 20
    assert missing == []


def test_the_changelog_is_dated_and_short() -> None:
    """The version that runs has a day, and no line is longer than one that is read at a glance."""
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.findall(r"^## \[(\d[^\]]*)\] - \d{4}-\d\d-\d\d$", text, re.MULTILINE)[0] == __version__
    assert [line for line in text.splitlines() if len(line) > 140] == []
    stated = (ROOT / "pyproject.toml").read_text("utf-8") + (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.findall(r"^version(?: = |: )\"?([\d.]+)", stated, re.MULTILINE) == [__version__, __version__]


def test_the_recipes_for_changes_name_files_that_are_there() -> None:
    """Thirteen changes, each in fewer than five files; what a recipe names besides exists, too."""
    rows = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Recipes\n")[2].splitlines()
    recipes = [row.split("|")[1:4] for row in rows if row.startswith("| ")][1:]
    assert len(recipes) == 13
    for change, files, how in recipes:
        assert len(files.split(",")) < 5, change
        named = re.findall(r"`([\w./-]+/[\w./-]+|README\.md)`", files + how)
        assert [path for path in named if not (ROOT / path).exists()] == [], change


def test_a_decision_is_one_page_about_what_is_there() -> None:
    """Numbered, under ninety lines, and the modules that it names exist."""
    for page in sorted(ROOT.glob("docs/decisions/*.md")):
        text = page.read_text("utf-8")
        assert text.startswith(f"# {page.name[:4]}: "), page
        assert len(text.splitlines()) < 90, page
        modules = re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.(?:py|ts|toml))", text)
        places = (ROOT, ROOT / "src" / "lutrin", ROOT / "src", ROOT / "web" / "widget")
        assert [path for path in modules if not any((place / path).exists() for place in places)] == [], page
