"""The judge shares no code with the judged; only `pipeline.py` knows both, to bring one before the other."""

import ast
from pathlib import Path

EVALUATE = Path(__file__).parents[2] / "src" / "lutrin" / "evaluate"
SHARED = {"lutrin.errors", "lutrin.messages", "lutrin.records", "lutrin"}


def test_only_records_errors_and_texts_are_shared() -> None:
    """Words, numbers, names and sentences are read by rules of the judge's own."""
    found = {
        node.module
        for path in EVALUATE.glob("*.py")
        if path.name != "pipeline.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lutrin")
    }
    assert {name for name in found if name and not name.startswith("lutrin.evaluate")} <= SHARED
    assert "lutrin.evaluate.text" in found
