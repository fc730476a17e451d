"""Print `docs/commands.md` from the help of every command; `just docs` writes it, a test compares it."""

from collections.abc import Iterator

import click

from lutrin.cli.main import with_guests

WIDTH = 100
HEADER = """# Commands

What `lutrin COMMAND --help` says. Written by `./justw docs`; do not edit. Exit 0 is success, 1 a failure that the
message explains, 2 wrong usage.
"""


def sections(command: click.Command, path: tuple[str, ...]) -> Iterator[str]:
    """The help of a command and of all commands below it, each under a heading."""
    context = click.Context(command, info_name=" ".join(path), terminal_width=WIDTH, max_content_width=WIDTH)
    level = "#" * (len(path) + 1)
    yield f"{level} {' '.join(path)}\n\n```text\n{command.get_help(context).rstrip()}\n```\n"
    if isinstance(command, click.Group):
        for name, child in sorted(command.commands.items()):
            if not child.hidden:
                yield from sections(child, (*path, name))


def text() -> str:
    """The whole page."""
    return "\n".join([HEADER, *sections(with_guests(), ("lutrin",))])


if __name__ == "__main__":
    print(text(), end="")
