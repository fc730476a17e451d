"""The question files tell the truth about the books, and the check would notice if they did not."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
QUESTIONS = ROOT / "corpus" / "questions"


def run_check(questions: Path) -> subprocess.CompletedProcess[str]:
    """`just check-questions` with another folder of question files."""
    command = [sys.executable, str(QUESTIONS / "check.py"), "--questions", str(questions)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def read(name: str) -> list[dict[str, Any]]:
    """The committed questions."""
    return [json.loads(line) for line in (QUESTIONS / name).read_text(encoding="utf-8").splitlines()]


def write(folder: Path, name: str, records: list[dict[str, Any]]) -> None:
    """Question files of a test."""
    (folder / name).write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def test_the_committed_questions_are_without_fault() -> None:
    """Files, sections, key facts, selections, kinds and absent terms are as stated."""
    result = run_check(QUESTIONS)
    assert result.returncode == 0, result.stdout


def test_each_kind_of_fault_is_named(tmp_path: Path) -> None:
    """One spoilt question for each rule gives one line with the question's name and what is wrong with it."""
    inside, outside = read("in_book.jsonl"), read("out_of_book.jsonl")
    lab_safety = next(record for record in inside if len(record["expected_files"]) == 1)
    page = (QUESTIONS.parent / lab_safety["expected_files"][0]).read_text(encoding="utf-8")
    sentence = next(line for line in page.splitlines() if len(line.split()) > 12 and "`" not in line)
    spoilt: dict[str, dict[str, Any]] = {
        "kind unknown: riddle": {"kind": "riddle"},
        "no such file: ['nowhere.mdx']": {"expected_files": ["nowhere.mdx"]},
        "no such section: Nowhere": {"expected_section": "Nowhere"},
        "key fact not in an expected file: 17 parsecs": {"key_facts": ["17 parsecs"]},
        "selected_text is no substring of an expected file": {"selected_text": "A sentence that no page has."},
        "copied from the book:": {"question": " ".join(sentence.split()[:10])},
        "a followup, and only a followup, has previous_question": {"previous_question": "What is a robot?"},
        "fields unknown: ['mood']": {"mood": "good"},
    }
    plain = next(record for record in inside if record["kind"] == "definition" and "selected_text" not in record)
    base = {**plain, "expected_files": lab_safety["expected_files"]}
    changed = [{**base, **change, "id": f"spoilt-{number}"} for number, change in enumerate(spoilt.values())]
    near = next(record for record in outside if record["kind"] == "near")
    write(tmp_path, "in_book.jsonl", [*inside, *changed, inside[0]])
    write(
        tmp_path,
        "out_of_book.jsonl",
        [{**record, "absent": ["robot"]} if record is near else record for record in outside],
    )

    result = run_check(tmp_path)

    assert result.returncode == 1
    lines = result.stdout.splitlines()
    for number, message in enumerate(spoilt):
        assert any(line.startswith(f"spoilt-{number}: {message}") for line in lines), message
    assert f"{inside[0]['id']}: 2 questions have this id" in lines
    assert any(line.startswith(f"{near['id']}: 'robot' stands in ") for line in lines)


def test_too_few_questions_are_noticed(tmp_path: Path) -> None:
    """The file must stay large and varied enough to judge by."""
    write(tmp_path, "in_book.jsonl", [record for record in read("in_book.jsonl") if record["kind"] == "number"])
    write(tmp_path, "out_of_book.jsonl", read("out_of_book.jsonl")[1:])

    lines = run_check(tmp_path).stdout

    assert "questions in the book, fewer than 150" in lines
    assert "no question of kind ['code', 'compare'" in lines
    assert "questions with selected_text, fewer than 30" in lines
    assert "out of the book: {'far': 29" in lines
