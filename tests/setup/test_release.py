"""The parts of a release, as far as they need no network."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "requirements" / "release.py"
STATIC = ROOT / "src" / "lutrin" / "serve" / "static" / "widget"
PACKAGE = re.compile(r"^(\S+) (\d[\w.-]*) \(([^)]+)\)$", re.MULTILINE)


def test_checksums_are_those_that_sha256sum_finds(tmp_path: Path) -> None:
    """Every file of the folder is in the list, and `sha256sum --check` agrees with it."""
    for name in ("lutrin.whl", "lutrin.cdx.json"):
        (tmp_path / name).write_text(name)
    code = f"import sys; sys.path.insert(0, {str(PROGRAM.parent)!r}); import release, pathlib; "
    code += f"f = pathlib.Path({str(tmp_path)!r}); (f / release.SUMS).write_text(release.checksums(f))"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    check = subprocess.run(
        ["sha256sum", "--check", "SHA256SUMS"],
        cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert check.stdout == "lutrin.cdx.json: OK\nlutrin.whl: OK\n"


def test_a_release_overwrites_nothing(tmp_path: Path) -> None:
    """A folder that holds something is named, and what it holds stays."""
    (tmp_path / "mine").write_text("kept")
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(tmp_path)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 1
    assert done.stderr.strip() == f"release: {tmp_path} is not empty; move what is in it, or name another folder."
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_the_widget_carries_the_licences_of_what_is_in_it(tmp_path: Path) -> None:
    """A release's script begins with the text of each licence, in one comment, and goes on with the script."""
    code = f"import sys; sys.path.insert(0, {str(PROGRAM.parent)!r}); import release, pathlib; "
    subprocess.run(
        [sys.executable, "-c", f"{code}release.widget(pathlib.Path({str(tmp_path)!r}))"], check=True, timeout=60
    )
    comment, _, script = (tmp_path / "lutrin-widget.js").read_text("utf-8").partition("*/\n")
    assert comment.startswith("/*!\n")
    for package in ("lit 3", "lit-html 3", "@lit/reactive-element 2"):
        assert f"\n{package}" in comment
    assert comment.count("Redistribution and use in source and binary forms") == 4
    built = (STATIC / "lutrin.js").read_text("utf-8")
    assert built.endswith(script)
    assert len(built) - len(script) < 200


def test_each_script_names_the_file_beside_it_that_has_the_licences() -> None:
    """Every package of the widget and of the practice pages is there with its text, as `THIRD_PARTY.md` lists it."""
    listed = (ROOT / "THIRD_PARTY.md").read_text("utf-8").partition("## In the widget")[2]
    found = set()
    for name in ("lutrin.js", "practice.js"):
        head = (STATIC / name).read_text("utf-8").partition("\n")[0]
        assert head == f"/*! Lutrin, Apache-2.0. Licences of what this file contains: {name}.LICENSE.txt */"
        licences = (STATIC / f"{name}.LICENSE.txt").read_text("utf-8")
        packages = PACKAGE.findall(licences)
        assert packages
        assert licences.count("Permission is hereby granted") + licences.count("Redistribution and use") == len(
            packages
        )
        found |= {f"| {package} | {version} | {licence} |" for package, version, licence in packages}
    # What the list has beside them leaves nothing in a script: types, and what only a server would draw with.
    assert found <= set(listed.splitlines())
    assert len(found) == 5
