"""Print `THIRD_PARTY.md`: whose work Lutrin stands on, and under which licences.

`just docs` writes the page, a test compares it.

Licences are what the installed packages say of themselves; those of packages that this machine does not install
(for Windows, mostly) are given in `ELSEWHERE`.
"""

import importlib.metadata
import json
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PINNED = re.compile(r"^([a-z0-9][a-z0-9._-]*)(?:\[[^\]]*\])?==([^\s;\\]+)", re.MULTILINE)
IMPORTED = re.compile(r"""from ["']((?:@[^/"']+/)?[^./"'][^/"']*)""")
"""A package that a module of the widget imports."""
ELSEWHERE = {
    "colorama": "BSD-3-Clause",
    "py-rust-stemmers": "MIT",
    "sqlcipher3": "zlib",
    "win32-setctime": "MIT",
}
"""Of packages without metadata on this machine, or whose metadata say nothing; read in their sources."""
HEADER = """# Third-party software

What `requirements/runtime.txt` installs, what the widget contains, and the models. Written by `./justw docs`; do not
edit. Each package's own licence text comes with the package; those of the widget's packages stand beside it
(`lutrin.js.LICENSE.txt`, written by its build). Nothing here is copied into Lutrin's own source.

"""
MODELS = """## Models

| file | by | licence |
|---|---|---|
| `models/reader` | trained for Lutrin from all-MiniLM-L6-v2 (`models/reader/README.md`) | Apache-2.0 |
| language models | their publishers, fetched at set-up (`models/manifest.toml`) | Apache-2.0 |
"""


def licence_of(name: str) -> str:
    """What an installed package says of its licence.

    Raises:
        LookupError: It says nothing, and `ELSEWHERE` does not know it.
    """
    if name in ELSEWHERE:
        return ELSEWHERE[name]
    found = importlib.metadata.metadata(name)
    classifiers = [item.split(" :: ")[-1] for item in found.get_all("Classifier") or [] if item.startswith("License")]
    expression, plain = (" ".join(found.get_all(key) or []) for key in ("License-Expression", "License"))
    said = expression or "; ".join(classifiers) or plain.split("\n")[0]
    if not said.strip():
        raise LookupError(f"{name} does not say its licence; read its source and add it to ELSEWHERE.")
    return said.strip()


def packages() -> Iterator[tuple[str, str, str]]:
    """Name, version and licence of everything that running Lutrin installs."""
    pinned = dict(PINNED.findall((ROOT / "requirements" / "runtime.txt").read_text(encoding="utf-8")))
    for name in sorted(pinned):
        yield name, pinned[name], licence_of(name)


def bundled() -> Iterator[tuple[str, str, str]]:
    """Name, version and licence of what the built widget contains, from npm's lock file."""
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "web" / "widget" / "src").rglob("*.ts"))
    wanted = {found for source in sources for found in IMPORTED.findall(source)}
    locked = json.loads((ROOT / "web" / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    seen, waiting = set(), sorted(wanted)
    while waiting:
        name = waiting.pop(0)
        entry = locked.get(f"widget/node_modules/{name}") or locked[f"node_modules/{name}"]
        if name not in seen:
            seen.add(name)
            waiting += sorted(entry.get("dependencies", {}))
            yield name, entry["version"], entry["license"]


def text() -> str:
    """The whole page."""
    head = "| package | version | licence |\n|---|---|---|\n"
    rows = "".join(f"| {name} | {version} | {licence} |\n" for name, version, licence in packages())
    widget = "".join(f"| {name} | {version} | {licence} |\n" for name, version, licence in sorted(bundled()))
    return f"{HEADER}## Python packages\n\n{head}{rows}\n## In the widget\n\n{head}{widget}\n{MODELS}"


if __name__ == "__main__":
    print(text(), end="")
