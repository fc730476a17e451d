"""Labels follow the pages that they are about."""

import json
from hashlib import sha256
from pathlib import Path

from evaluation.anchor import follow

OLD = "A full frame weighs 2 kg."


def labelled(folder: Path, page: str) -> Path:
    """A book of one page, a claim and an answer about a sentence that was at its beginning."""
    place = ["bees.md", 0, len(OLD), sha256(OLD.encode()).hexdigest()]
    claim = dict(zip(("file", "offset", "length", "hash"), place, strict=True))
    rows = {"claims": {"claim": "It weighs 2 kg.", **claim}, "remote": {"question": "How heavy?", "passages": [place]}}
    (folder / "corpus" / "bees").mkdir(parents=True)
    (folder / "corpus" / "bees" / "bees.md").write_text(page)
    for kind, row in rows.items():
        (folder / kind).mkdir()
        (folder / kind / "bees.jsonl").write_text(json.dumps(row) + "\n")
    return folder


def test_a_label_follows_its_sentence_down_the_page(tmp_path: Path) -> None:
    """A paragraph above it is no reason to label anew."""
    folder = labelled(tmp_path, f"Smoke calms bees.\n\n{OLD}\n")
    assert follow(folder, folder / "corpus") == (2, [])
    assert json.loads((folder / "claims" / "bees.jsonl").read_text())["offset"] == 19
    assert json.loads((folder / "remote" / "bees.jsonl").read_text())["passages"][0][1] == 19


def test_a_changed_sentence_is_named_and_its_label_left_alone(tmp_path: Path) -> None:
    """Only a reader can say whether it still holds."""
    folder = labelled(tmp_path, "A full frame weighs 3 kg.\n")
    before = (folder / "claims" / "bees.jsonl").read_text()
    changed, lost = follow(folder, folder / "corpus")
    assert changed == 0
    assert lost[0] == "bees.md, 25 characters from 0 on: It weighs 2 kg."
    assert (folder / "claims" / "bees.jsonl").read_text() == before
