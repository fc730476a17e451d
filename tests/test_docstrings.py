"""The examples in docstrings are true."""

import doctest
import importlib
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
EXAMPLES = [path for path in sorted(SOURCE.rglob("*.py")) if ">>>" in path.read_text(encoding="utf-8")]


def test_every_example_gives_what_it_says() -> None:
    """Readers of a docstring can trust its examples."""
    assert len(EXAMPLES) > 1
    wrong = []
    for path in EXAMPLES:
        module = importlib.import_module(".".join(path.relative_to(SOURCE).with_suffix("").parts))
        if doctest.testmod(module).failed:
            wrong.append(path.name)
    assert not wrong
