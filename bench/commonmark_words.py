"""Whether a visible word of the CommonMark specification's examples is lost on its way into units.

The specification is not ours to copy: it is read from the source distribution of the `commonmark` package, which pip
downloads into a temporary folder, or from a file given with `--spec`. The last line is JSON.
"""

import argparse
import html
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lutrin.ingest.markdown import parse_markdown

PACKAGE = "commonmark==0.9.1"
EXAMPLE = re.compile(r"^`{32} example\n(.*?)^\.\n(.*?)^`{32}$", re.MULTILINE | re.DOTALL)
UNSEEN = re.compile(r"<!--.*?-->|<\?.*?\?>|<!.*?>|<(script|style)\b.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
WORD = re.compile(r"\w+")


def specification() -> str:
    """The text of the specification from the registry."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--no-binary",
            ":all:",
            "-d",
            folder,
            PACKAGE,
        ]
        subprocess.run(command, check=True)
        with tarfile.open(next(Path(folder).glob("*.tar.gz"))) as archive:
            member = next(name for name in archive.getnames() if name.endswith("/spec.txt"))
            file = archive.extractfile(member)
            return file.read().decode() if file else ""


def examples(text: str) -> Iterator[tuple[str, str]]:
    """Markdown and HTML of each example."""
    for match in EXAMPLE.finditer(text):
        yield match[1].replace("→", "\t"), match[2].replace("→", "\t")


def visible(page: str) -> list[str]:
    """Words that a browser would show of an example's HTML."""
    page = re.sub(r'<img[^>]*alt="([^"]*)"[^>]*>', r" \1 ", UNSEEN.sub(" ", page))
    return WORD.findall(html.unescape(re.sub(r"</?[A-Za-z][^<>]*?>", " ", page)))


def read(source: str) -> str:
    """All words of titles and units, without anything between them."""
    document = parse_markdown(source, "example.md")
    texts = [section.title for section in document.sections]
    texts += [unit.lead + unit.text for section in document.sections for unit in section.units]
    return "".join(WORD.findall(" ".join(texts)))


def main() -> int:
    """Print every example that loses a word, then the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", type=Path, help="the specification as spec.txt")
    arguments = parser.parse_args()
    text = arguments.spec.read_text(encoding="utf-8") if arguments.spec else specification()
    count, losing = 0, []
    for count, (source, page) in enumerate(examples(text), start=1):
        found = read(source)
        lost = sorted({word for word in visible(page) if word not in found})
        if lost:
            losing.append(count)
            print(f"example {count}: {source!r} loses {lost}")
    print(json.dumps({"examples": count, "losing_a_word": losing}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
