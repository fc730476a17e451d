"""Print `.env.example` from the settings; `just docs` writes it, a test compares it."""

from lutrin.settings import Settings, describe_settings


def text() -> str:
    """Every variable with its meaning and its default, commented out."""
    lines = ["# Settings of Lutrin. Copy to .env and change what you need; `lutrin config` shows what holds."]
    for name, value, meaning in describe_settings(Settings.model_construct()):
        lines += ["", f"# {meaning}", f"# {name}={value}"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(text(), end="")
