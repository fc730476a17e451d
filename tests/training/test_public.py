"""Public sets: taken by their hash, and cut into passages whose sentences answer."""

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from training import public
from training.sources import Missing

TEXT = "Bees hum. They dance to tell where flowers are. In winter they sleep."


def answered(path: Path, form: str) -> list[tuple[str, list[str], int]]:
    """Each question of files of a format, the sentences that answer it, and how many passages do not."""
    files = sorted(item for item in path.rglob("*") if item.is_file())
    book, asked = public.shelved("set", public.READ[form](files), 64)
    return [
        (
            item.question,
            [
                book.passages[number].text[slice(*book.passages[number].units[unit][:2])]
                for number, units in item.positives.items()
                for unit in units
            ],
            len(item.negatives),
        )
        for item in asked
    ]


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    """A table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)


def test_a_set_is_taken_by_its_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing or another file is named with the command that brings the right one."""
    listed = tmp_path / "public.toml"
    listed.write_text(
        '[set]\nrepository = "a/b"\ncommit = "c0ffee"\npath = "data/dev.jsonl"\nformat = "pairs"\nsha256 = "0"\n'
    )
    monkeypatch.setattr(public, "PUBLIC", listed)
    with pytest.raises(Missing, match=r"There is no \S+: mkdir .* git archive c0ffee .* https://github\.com/a/b"):
        list(public.pairs(tmp_path))
    file = tmp_path / "set" / "data" / "dev.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text('{"label": "neutral"}\n')
    with pytest.raises(Missing, match="another one"):
        list(public.pairs(tmp_path))
    digest = hashlib.sha256(hashlib.sha256(file.read_bytes()).hexdigest().encode()).hexdigest()
    listed.write_text(listed.read_text().replace('"0"', f'"{digest}"'))
    assert list(public.pairs(tmp_path)) == [{"label": "neutral"}]


def test_every_set_names_its_licence_and_a_format() -> None:
    """No set without a permitting licence is used for training."""
    for name, source in public.described().items():
        assert source["licence"].startswith(("Apache-2.0", "MIT", "CC-BY-", "OANC")), name
        assert source["format"] in {*public.READ, public.PAIRS}, name


def test_the_sentence_around_an_answer_answers(tmp_path: Path) -> None:
    """A question whose answer is impossible has none, and its own page is what it has to be told from."""
    asked = [
        {"question": "why do they dance", "answers": [{"text": "flowers", "answer_start": TEXT.index("flowers")}]},
        {"question": "what do they eat", "answers": [], "is_impossible": True},
    ]
    paragraphs = [{"context": TEXT, "qas": asked}, {"context": "Wasps sting.", "qas": []}]
    (tmp_path / "a.json").write_text(json.dumps({"data": [{"title": "Bees", "paragraphs": paragraphs}]}))
    assert answered(tmp_path, "squad") == [
        ("why do they dance", ["They dance to tell where flowers are."], 0),
        ("what do they eat", [], 1),
    ]


def test_selected_sentences_answer(tmp_path: Path) -> None:
    """Sentences that are not found exactly leave their question out."""
    rows = [
        {"input": "how", "passages": [{"title": "Bees", "text": TEXT}], "output": [{"selected_sentences": [sentence]}]}
        for sentence in ("Bees hum.", "Wasps hum.")
    ]
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert answered(tmp_path, "clapnq") == [("how", ["Bees hum."], 0)]


def test_a_story_answers_by_its_section(tmp_path: Path) -> None:
    """In the section's own words, or else by all of it."""
    write(tmp_path / "section-stories" / "bees-story.csv", [{"section": 1, "text": TEXT.replace(". ", ".\n")}])
    asked = {"who sleeps": "in winter", "why": "because it is cold"}
    rows = [{"question": text, "cor_section": 1, "answer1": answer} for text, answer in asked.items()]
    write(tmp_path / "questions" / "bees-questions.csv", rows)
    every = ["Bees hum.", "They dance to tell where flowers are.", "In winter they sleep."]
    assert answered(tmp_path, "fairytale") == [("who sleeps", every[2:], 0), ("why", every, 0)]


def test_the_results_of_an_abstract_answer(tmp_path: Path) -> None:
    """Not what was known before."""
    row = {"QUESTION": "do they dance", "CONTEXTS": ["Bees hum.", "They dance. They sleep."]}
    (tmp_path / "a.json").write_text(json.dumps({"1": row}))
    assert answered(tmp_path, "pubmed") == [("do they dance", ["They dance.", "They sleep."], 0)]


def test_a_long_text_is_cut_where_sentences_end() -> None:
    """Each passage has the title above it, and every sentence is in one of them."""
    page = public.Page("Bees", TEXT * 40, [])
    found = list(public.cut("0", page))
    assert len(found) > 1
    assert all(passage.text.startswith("Bees\n") for passage in found)
    told = [passage.text[start:end] for passage in found for start, end, *_ in passage.units]
    assert told == [page.text[start:end] for start, end in public.sentences(page.text)]
