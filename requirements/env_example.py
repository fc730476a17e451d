"""Print `.env.example` from the settings; `just docs` writes it, a test compares it."""

from lutrin.settings import Settings, describe_settings, is_advanced

HEAD = "# Settings of Lutrin. Copy to .env and change what you need; `lutrin config` shows the values in effect."
ADVANCED = "# Advanced: leave these as they are unless you know why; `lutrin config --all` shows the values in effect."


def text() -> str:
    """Every variable with meaning and default, commented out: first the dozen that people set, then the advanced."""
    rows = describe_settings(Settings.model_construct())
    lines = [HEAD]
    for head, advanced in (("", False), (ADVANCED, True)):
        lines += ["", head] if head else []
        for name, value, meaning in rows:
            if is_advanced(name) == advanced:
                lines += ["", f"# {meaning}", f"# {name}={value}"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(text(), end="")
