"""The judge shares no code with the judged; only `pipeline.py` and those that open Lutrin know both."""

import ast
from pathlib import Path

EVALUATION = Path(__file__).parents[2] / "evaluation"
BOTH = {
    "asking.py", "careless.py", "claims.py", "doubt.py", "everyday.py", "further.py", "joined.py", "joints.py",
    "marked.py", "meant.py", "pipeline.py", "places.py", "pointing.py", "read.py", "remote.py", "searches.py",
    "shelf.py", "whether.py", "worlds.py", "written.py",
}  # fmt: skip
"""They open Lutrin or its settings; what `claims.py` compares with was labelled by hand."""
SHARED = {"lutrin.errors", "lutrin.messages", "lutrin.records", "lutrin"}


def test_only_records_errors_and_texts_are_shared() -> None:
    """Words, numbers, names and sentences are read by rules of the judge's own."""
    found = {
        node.module
        for path in EVALUATION.glob("*.py")
        if path.name not in BOTH
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lutrin")
    }
    assert found <= SHARED
    assert "lutrin.records" in found
