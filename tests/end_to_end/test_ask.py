"""`lutrin ask`, `retrieve` and `config` as a reader at the terminal sees them."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lutrin import messages
from lutrin.records import Answer

from . import books
from .conftest import Library, Lutrin
from .reading import check_sources

FAR = "What will the weather be in Paris tomorrow?"
LOOP = "What is the sensorimotor loop?"


@pytest.mark.model
def test_an_answer_in_the_terminal_has_its_citations(lutrin: Lutrin) -> None:
    """The answer, its sources with place and quoted words, then what wrote it and how long it took."""
    done = lutrin("ask", LOOP)
    assert done.code == 0, done.err
    body, _, sources = done.out.partition("\nSources:\n")
    assert "[1]" in body
    assert re.search(r"^\[1\] .+ \(.+\.mdx\)\n    \".+\"$", sources, re.MULTILINE)
    assert "The Sensorimotor Loop" in sources or "sensorimotor-loop.mdx" in sources
    assert re.search(r"^\(extractive, no model, \d+ ms\)$", done.out.splitlines()[-1])


@pytest.mark.model
def test_json_is_the_whole_answer_and_its_quotes_are_the_books(lutrin: Lutrin, library: Library) -> None:
    """`--json` prints one Answer; its first source is the file that answers, its quotes are substrings of the files."""
    done = lutrin("ask", books.QUESTION, "--json")
    answer = msgspec.json.decode(done.out, type=Answer)
    assert (answer.kind, answer.mode, answer.refusal, answer.model_used) == ("extractive", "book", None, "")
    assert books.ANSWER_FILE in {source.filename for source in answer.sources}
    assert {source.book for source in answer.sources} == {books.SLUG}
    check_sources(answer, library.folders)


@pytest.mark.model
@pytest.mark.gguf
def test_a_stream_shows_the_book_first_and_what_a_model_adds_below(lutrin: Lutrin) -> None:
    """The book's answer is printed whole at once, with its sources; a model's sentences come after it."""
    done = lutrin("ask", LOOP, "--stream", LUTRIN_MODEL="tiny", LUTRIN_EXPLAIN_S="20", LUTRIN_ANSWER_TOKENS="32")
    assert done.code == 0, done.err
    book, _, added = done.out.partition("Sources:")
    assert "loop" in book
    assert messages.IN_PLAIN_WORDS not in book
    assert re.search(r"^\((?:extractive, no model|generated, SmolLM2-135M-Instruct), \d+ ms\)$", added, re.MULTILINE)


@pytest.mark.model
def test_what_the_book_does_not_say_is_said(lutrin: Lutrin) -> None:
    """A question far from every book is a refusal in the contract's words, without a source."""
    answer = msgspec.json.decode(lutrin("ask", FAR, "--book", books.SLUG, "--json").out, type=Answer)
    assert (answer.kind, answer.refusal) == ("refusal", "out_of_scope")
    assert answer.answer == messages.NOT_COVERED.format(title=books.TITLE)
    assert answer.sources == ()


@pytest.mark.model
def test_a_question_that_cannot_be_asked_ends_with_its_reason(lutrin: Lutrin) -> None:
    """An empty question, an unknown book and an unknown chapter cost the exit code 1 and one sentence."""
    for arguments, reason in (
        ((" ",), messages.EMPTY_QUESTION),
        ((LOOP, "--book", "nobody"), "There is no book nobody."),
        ((books.QUESTION, "--book", books.SLUG, "--chapter", "Chapter 9"), "The book has no chapter named Chapter 9."),
    ):
        done = lutrin("ask", *arguments)
        last = done.err.splitlines()[-1]
        assert (done.code, done.out) == (1, "")
        assert last.startswith(reason)


@pytest.mark.model
def test_a_chapter_and_a_selection_narrow_the_search(lutrin: Lutrin) -> None:
    """With `--chapter` every source is from there; with `--selected-text` the answer says that it was used."""
    chosen = ("--book", books.SLUG, "--chapter", "Chapter 2", "--selected-text", "Flood the tank.")
    answer = msgspec.json.decode(lutrin("ask", books.QUESTION, *chosen, "--json").out, type=Answer)
    assert answer.mode == "selection_boosted"
    assert {source.chapter for source in answer.sources} == {"Chapter 2: Diving"}


@pytest.mark.model
def test_passages_are_a_json_array(lutrin: Lutrin) -> None:
    """Each has its text, a score and where it stands; `-k` bounds their number and the best comes first."""
    passages = lutrin("retrieve", books.QUESTION, "-k", "2").json()
    assert 1 <= len(passages) <= 2
    assert passages[0]["metadata"]["filename"] == books.ANSWER_FILE
    scores = [passage["score"] for passage in passages]
    assert scores == sorted(scores, reverse=True)
    for passage in passages:
        assert set(passage) == {"text", "score", "metadata"}
        assert passage["text"]
        assert {"id", "book", "chapter", "section", "page", "filename", "anchor"} <= set(passage["metadata"])
        assert passage["metadata"]["chapter"] in {"Chapter 1: The Hull", "Chapter 2: Diving"}


@pytest.mark.model
def test_nothing_relevant_is_an_empty_array(lutrin: Lutrin) -> None:
    """A question far from every book finds no passage."""
    assert lutrin("retrieve", FAR).json() == []


@pytest.mark.model
def test_a_question_that_cannot_be_asked_needs_no_model(lutrin: Lutrin, models: Path, tmp_path: Path) -> None:
    """Question and books are checked before the model loads, so an invalid question needs no model and no waiting."""
    without_a_file: dict[str, Any] = {"models": models, "LUTRIN_MODEL": "small"}
    asked = (
        (
            lutrin("ask", LOOP, data_dir=tmp_path, **without_a_file),
            f"{messages.KNOWLEDGE_BASE_DOWN} Run `lutrin ingest`.",
        ),
        (lutrin("ask", "", **without_a_file), messages.EMPTY_QUESTION),
        (
            lutrin("ask", LOOP, "--book", "nobody", "--stream", **without_a_file),
            "There is no book nobody. There are: tidepool, 01-part-1-foundations.",
        ),
    )
    for done, reason in asked:
        assert (done.code, done.err) == (1, f"{reason}\n")
    assert "model_unusable" in lutrin("ask", LOOP, **without_a_file).err


@pytest.mark.model
@pytest.mark.parametrize("command", ["ask", "retrieve"])
def test_without_an_index_the_remedy_is_named(lutrin: Lutrin, tmp_path: object, command: str) -> None:
    """Before the first ingest a question ends with the friendly message and the command that helps."""
    done = lutrin(command, LOOP, data_dir=tmp_path)
    assert (done.code, done.out) == (1, "")
    assert done.err == f"{messages.KNOWLEDGE_BASE_DOWN} Run `lutrin ingest`.\n"


SECRETS = {
    "LUTRIN_CHAT_KEY": "5ec4e7" * 10 + "0000",
    "LUTRIN_ADMIN_TOKEN": "token-that-nobody-may-see",
    "GEMINI_API_KEY": "gemini-key-that-nobody-may-see",
    "QDRANT_API_KEY": "qdrant-key-that-nobody-may-see",
}


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_settings_are_listed_without_secrets(lutrin: Lutrin, form: tuple[str, ...]) -> None:
    """Every variable of the environment shows its value, but no secret does, in neither form."""
    done = lutrin("config", *form, LUTRIN_PORT="8123", **SECRETS)
    assert done.code == 0, done.err
    assert "8123" in done.out
    for name, secret in SECRETS.items():
        assert name in done.out
        assert secret not in done.out
    assert "**********" in done.out


def test_json_of_the_settings_names_every_variable(lutrin: Lutrin) -> None:
    """The names are those of `.env.example`, and values that were not set are the defaults."""
    values = lutrin("config", "--json", LUTRIN_MODEL="").json()
    assert (values["LUTRIN_PORT"], values["LUTRIN_MODEL"], values["LUTRIN_PROFILE"]) == ("7860", "auto", "local")


@pytest.mark.parametrize(
    ("name", "value"), [("LUTRIN_PORT", "70000"), ("LUTRIN_PROFILE", "cloud"), ("LUTRIN_DEADLINE_S", "soon")]
)
def test_a_wrong_setting_is_named(lutrin: Lutrin, name: str, value: str) -> None:
    """A command that cannot read its settings ends with the variable's name and the exit code 1."""
    done = lutrin("config", **{name: value})
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"{name}: ")


@pytest.mark.parametrize("missing", ["GEMINI_API_KEY", "QDRANT_URL", "QDRANT_API_KEY"])
def test_the_remote_profile_names_the_variable_that_is_missing(lutrin: Lutrin, missing: str) -> None:
    """The start fails with the contract's words."""
    present = {"GEMINI_API_KEY": "a", "QDRANT_URL": "http://127.0.0.1:9", "QDRANT_API_KEY": "b"}
    del present[missing]
    done = lutrin("serve", LUTRIN_PROFILE="remote", **present)
    assert (done.code, done.err) == (1, messages.MISSING_VARIABLE.format(name=missing) + "\n")


def test_config_lists_what_people_set_and_what_was_changed(lutrin: Lutrin) -> None:
    """A dozen settings, beside them an advanced one that was changed, and the rest with `--all`."""
    short = lutrin("config", LUTRIN_QUEUE_LIMIT="7").out
    assert "LUTRIN_MODEL " in short
    assert "LUTRIN_QUEUE_LIMIT" in short
    assert "LUTRIN_MODEL_SLOTS" not in short
    assert "`lutrin config --all` lists them." in short
    assert "LUTRIN_MODEL_SLOTS" in lutrin("config", "--all").out
