"""Text by strangers is shown on a terminal, and never controls it."""

import ast
import json
import subprocess
import sys
from pathlib import Path

from lutrin.cli.console import visible

from .processes import environment

CLI = Path(__file__).parents[2] / "src" / "lutrin" / "cli"
EVIL = "\x1b]52;c;ZXZpbA==\x07\x1b]0;title\x07\x1b[2J\x9b1A\u202etxt.exe"


def test_every_command_prints_by_one_function() -> None:
    """It alone writes to the terminal; the QR code's bytes are ours."""
    calls = [
        f"{path.name}: {ast.unparse(node)}"
        for path in sorted(CLI.glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"click.echo", "click.secho", "print"}
    ]
    assert calls == [
        "console.py: click.echo(visible(str(text)), err=err, nl=nl, file=file)",
        "serve.py: click.echo(qr_code(first), nl=False)",
    ]


def test_control_characters_are_shown_as_escapes() -> None:
    """Line breaks and tabs stay; JSON stays the same JSON."""
    shown = visible(EVIL)
    assert shown.isprintable()
    assert "\\u001b]52;c;" in shown
    assert visible("a\tb\r\nc\n") == "a\tb\nc\n"
    assert json.loads(visible(json.dumps({"a": EVIL}, ensure_ascii=False))) == {"a": EVIL}


def test_reports_show_names(tmp_path: Path) -> None:
    """A draft with such characters in its name, whose line is no entry."""
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "page.md").write_text("# A page\n\nWords.\n")
    draft = tmp_path / f"draft{EVIL}.jsonl".replace("/", "")
    draft.write_text("no entry\n")
    done = subprocess.run(
        [sys.executable, "-m", "lutrin.cli", "companion", "merge", str(draft), "--corpus", str(tmp_path / "corpus")],
        capture_output=True, env=environment(tmp_path, tmp_path / "data"), check=False, timeout=120, cwd=tmp_path,
    )  # fmt: skip
    said = (done.stdout + done.stderr).decode()
    assert "is not an entry" in said
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(said)
    assert "\\u001b" in said
