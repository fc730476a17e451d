"""Small pages, each about one thing, and what is read from them: `pages/NAME` against `pages/NAME.json`.

After a wanted change, `python tests/ingest/test_golden.py` writes the golden files anew; read the difference.
"""

from pathlib import Path

import msgspec

from lutrin.ingest.markdown import parse_markdown

PAGES = sorted(path for path in (Path(__file__).parent / "pages").iterdir() if path.suffix in {".md", ".mdx"})


def understood(path: Path) -> bytes:
    """The parsed page as JSON; `source` of each unit is its range in the file."""
    source = path.read_bytes().decode()
    document = parse_markdown(source, path.name)
    sections = [
        {
            "path": section.heading_path,
            "level": section.level,
            "anchor": section.anchor,
            "units": [
                {
                    **{
                        name: value
                        for name, value in msgspec.to_builtins(unit).items()
                        if value and (name, value) != ("role", "text")
                    },
                    "source": source[unit.char_start : unit.char_end],
                }
                for unit in section.units
            ],
        }
        for section in document.sections
    ]
    value = {
        "title": document.title,
        "position": document.position,
        "keywords": document.keywords,
        "is_simulation": document.is_simulation,
        "sections": sections,
        "notices": document.notices,
    }
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def test_a_page_is_read_as_its_golden_file_says() -> None:
    """Titles, headings, anchors, units with their places, leads and warnings, and notices."""
    for path in PAGES:
        assert understood(path).decode() == path.with_name(f"{path.name}.json").read_text(encoding="utf-8"), path.name


if __name__ == "__main__":
    for page in PAGES:
        page.with_name(f"{page.name}.json").write_bytes(understood(page))
