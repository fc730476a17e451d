"""README's "Your own books": folders of many kinds in `corpus/` are read by the bare command, and answer questions."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.embeddings import Lenders
from tests.ingest.made import docx, epub, paragraph
from tests.ingest.strangers import STRANGERS, page

from lutrin.cli.main import lutrin
from lutrin.ingest.formats import all_formats

from .processes import COMMAND_S, Done, environment
from .test_reingest import PICKED_UP_S
from .warm import Warm

pytestmark = pytest.mark.model

ROOT = Path(__file__).parents[2]
MAKES = {
    "docusaurus": "Docusaurus", "mkdocs": "MkDocs", "mdbook": "mdBook", "jupyter": "Jupyter Book", "myst": "MyST",
    "quarto": "Quarto", "jekyll": "Jekyll", "hugo": "Hugo", "carpentries": "Carpentries", "sphinx-html": "Sphinx",
    "docbook": "DocBook", "texinfo": "Texinfo", "repository": "README",
}  # fmt: skip
"""What README calls the folders of `STRANGERS`."""
LOOSE = {
    "whales.epub": (
        epub({"a.xhtml": "<h1>Diving</h1><p>A sperm whale dives for ninety minutes.</p>"}),
        "ninety minutes",
    ),
    "bicycles.docx": (docx(paragraph("Tyres", "heading1"), paragraph("Pump road tyres to six bar.")), "six bar"),
    "kites.html": (
        b"<h1>Kites</h1><p>A delta kite flies from a wind of seven kilometres an hour.</p>",
        "seven kilometres",
    ),
    "pencils.txt": (b"PENCILS\n\nA pencil writes fifty thousand words.\n", "fifty thousand words"),
}
QUESTIONS = {
    "whales": "For how long does a sperm whale dive?",
    "bicycles": "To how many bar are road tyres pumped?",
    "kites": "From which wind on does a delta kite fly?",
    "pencils": "How many words does a pencil write?",
}
# A program of a reader's own: it asks each book, and prints one line of JSON.
PROGRAM = """
import json, sys
import lutrin
asked = json.loads(sys.argv[1])
found = {book: [p["text"] for p in lutrin.retrieve(question, book=book, top_k=3)] for book, question in asked.items()}
json.dump({"found": found, "numbers": len(lutrin.get_embedding("A whale."))}, sys.stdout)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as README has it, with a `corpus/` of a stranger's books."""
    place = tmp_path_factory.mktemp("stranger")
    for name, stranger in STRANGERS.items():
        stranger.write(place / "corpus" / name)
    for name, (data, _) in LOOSE.items():
        (place / "corpus" / name).write_bytes(data)
    (place / "corpus" / "broken").mkdir()
    (place / "corpus" / "broken" / "good.md").write_text(page("Good", "This page is read."))
    (place / "corpus" / "broken" / "bad.mdx").write_text("# Bad\n\n<Tabs>\n\nNever closed.\n")
    return place


@pytest.fixture(scope="module")
def variables(place: Path, models_dir: Path) -> dict[str, str]:
    """The variables of the commands: none names the folder of the books."""
    return environment(models_dir, place / "data", LUTRIN_CORPUS_DIR=str(place / "corpus"))


@pytest.fixture(scope="module")
def read(place: Path, variables: dict[str, str], warm: Warm, lenders: Lenders) -> Done:
    """The bare command."""
    with lenders.lending(place / "data"):
        return warm.run(variables, "ingest", cwd=place)


def test_every_book_is_listed_with_its_title_and_every_file_left_out_with_its_reason(read: Done) -> None:
    """A page that MDX would refuse is one of them, with its line, and makes the exit code 1."""
    assert f"Found {len(STRANGERS) + len(LOOSE) + 1} books:" in read.out
    for name, stranger in STRANGERS.items():
        pages = len(stranger.pages)
        assert f"  {name}: {stranger.title} ({pages} file{'' if pages == 1 else 's'}" in read.out
        assert all(item in read.out for item in stranger.left_out)
    assert "broken: bad.mdx: line 3: <Tabs> is never closed" in read.out
    assert read.code == 1


def test_each_book_answers_a_question_about_itself(read: Done, place: Path, variables: dict[str, str]) -> None:
    """A program asks all of them; it ends without a trace and prints nothing of its own."""
    assert "Found" in read.out
    asked = {name: stranger.question for name, stranger in STRANGERS.items()} | QUESTIONS
    facts = {name: stranger.fact for name, stranger in STRANGERS.items()}
    facts |= {name.partition(".")[0]: fact for name, (_, fact) in LOOSE.items()}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(asked)],
        env=variables, cwd=place, capture_output=True, text=True, timeout=COMMAND_S, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    assert answer["numbers"] == 384
    assert {name: any(fact in text for text in answer["found"][name]) for name, fact in facts.items()} == dict.fromkeys(
        facts, True
    )


def test_doctor_names_what_was_left_out(read: Done, place: Path, variables: dict[str, str], warm: Warm) -> None:
    """The same files with the same reasons."""
    assert "Found" in read.out
    checks = warm.run(variables, "doctor", "--json", cwd=place).json()
    (left_out,) = [check["detail"] for check in checks if check["name"] == "left out"]
    assert "2-fire/draft.rtf" in left_out
    assert "bad.mdx: line 3" in left_out


def test_a_second_run_reads_nothing_but_what_failed(
    read: Done, place: Path, variables: dict[str, str], warm: Warm
) -> None:
    """And `--lenient` reads that as far as it goes."""
    assert "Found" in read.out
    again = warm.run(variables, "ingest", "--json", cwd=place).json()
    assert (again["processed"], again["failed"], again["texts_embedded"]) == (0, 1, 0)
    lenient = warm.run(variables, "ingest", "--lenient", "--json", cwd=place).json()
    assert (lenient["processed"], lenient["failed"]) == (1, 0)


def section() -> str:
    """README's section on a reader's own books."""
    text = (ROOT / "README.md").read_text("utf-8").partition("## Your own books")[2]
    return text.partition("\n## ")[0]


def test_readme_names_every_format_and_every_make_that_is_read() -> None:
    """README tells what to put there, and the tests above put there everything that it names."""
    own = " ".join(section().split())
    assert all(kind.name.split()[0].lower() in own.lower() for kind in all_formats().values())
    sentence = re.search(r"The folder of an? (.+?) works as it is", own)
    assert sentence is not None
    named = {name for name in MAKES if MAKES[name] in sentence[1]}
    assert named == set(MAKES) <= set(STRANGERS)
    rest = re.sub("|".join(MAKES.values()), "", sentence[1])
    assert not re.findall(r"\b[A-Z]\w+", rest.replace("The", "")), "a make without a folder of its own in the tests"


def test_readmes_command_is_the_one_that_was_run() -> None:
    """`./justw ingest` is `lutrin ingest` behind what it needs, and what README names exists."""
    own = section()
    recipes = dict(
        re.findall(r"^([a-z-]+)(?: [^:\n]*)?:[^\n=]*\n((?:    .+\n)+)", (ROOT / "justfile").read_text(), re.MULTILINE)
    )
    commands = re.findall(r"^    \./justw (\S+)", own, re.MULTILINE)
    assert commands == ["ingest"]
    assert recipes["ingest"].splitlines()[-1].strip() == "@lutrin ingest {{ARGS}}"
    assert all((ROOT / path).is_file() for path in re.findall(r"\]\(([^)]+)\)", own))
    for command in re.findall(r"`lutrin (\w+)", own):
        assert command in lutrin.commands


def test_readmes_promise_of_a_running_server_is_a_test() -> None:
    """Two seconds, and no failed request: `test_reingest` measures both."""
    (seconds,) = re.findall(r"picks up the new index within (\w+) seconds", " ".join(section().split()))
    assert ({"two": 2.0}[seconds], "without a failed request" in " ".join(section().split())) == (PICKED_UP_S, True)
