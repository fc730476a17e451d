"""Settings: from the environment and `.env`, checked once at start, then passed as an argument.

Nothing here is read at import. A wrong value ends the start with a message that names the variable.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from lutrin import messages
from lutrin.errors import InvalidSettings

REMOTE_REQUIRED = ("GEMINI_API_KEY", "QDRANT_URL", "QDRANT_API_KEY")


class Settings(BaseSettings):
    """Everything that an operator can set; `lutrin config` lists it."""

    model_config = SettingsConfigDict(
        env_prefix="LUTRIN_",
        env_file=".env",
        env_file_encoding="utf-8",
        extra="ignore",
        frozen=True,
        env_ignore_empty=True,
    )

    profile: Literal["local", "remote"] = Field("local", description="`local` opens no outgoing connection at all.")
    data_dir: Path = Field(Path("data"), description="Catalogue, indexes and conversations.")
    models_dir: Path = Field(Path("models"), description="The manifest of models and the model files.")
    corpus_dir: Path = Field(Path("corpus"), description="The books, when a command names no other folder.")

    model: str = Field("small", description="`tiny`, `small`, `medium`, `auto`, `none` (quotes only), or a GGUF file.")
    model_threads: int = Field(0, ge=0, le=256, description="CPU threads of the language model; 0: the physical cores.")
    model_context_tokens: int = Field(
        8192, ge=1024, le=262_144, description="Tokens that all simultaneous answers share."
    )
    model_slots: int = Field(10, ge=1, le=64, description="Answers that are decoded at the same time.")
    queue_limit: int = Field(
        64, ge=0, le=10_000, description="Readers who may wait for the model before quotes answer."
    )
    deadline_s: float = Field(
        3.0, gt=0, le=600, description="Seconds after which quotes replace what is not generated."
    )
    answer_tokens: int = Field(96, ge=16, le=2048, description="Longest generated answer.")

    chunk_tokens: int = Field(400, ge=100, le=1000, description="Target length of a chunk, headings included.")
    chunk_overlap_tokens: int = Field(50, ge=0, le=200, description="Repeated between neighbours of one section.")
    top_k: int = Field(5, ge=1, le=50, description="Passages that a question gets.")

    host: str = Field("127.0.0.1", description="Address that `lutrin serve` listens on.")
    port: int = Field(7860, ge=1, le=65_535, description="Port that `lutrin serve` listens on.")
    cors_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        ("http://localhost:3000", "http://127.0.0.1:3000"),
        description="Origins whose pages may ask, comma-separated; `*` only when written out.",
    )
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Further host names under which the server is reached, comma-separated (DNS rebinding guard)."
    )
    trusted_proxies: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Addresses of proxies whose X-Forwarded-For is believed, comma-separated."
    )
    rate_session_per_min: int = Field(10, ge=0, le=100_000, description="Questions a minute in a session; 0: no limit.")
    rate_peer_per_min: int = Field(
        300, ge=0, le=1_000_000, description="Questions a minute from a network peer; 0: no limit."
    )
    admin_token: SecretStr | None = Field(None, description="Switches on administration over HTTP.")
    chat_key: SecretStr | None = Field(None, description="Key of the conversations; without it a 0600 file holds one.")
    retention_days: int = Field(0, ge=0, le=36_500, description="Conversations older than this are deleted; 0: never.")
    languages: Annotated[tuple[str, ...], NoDecode] = Field(
        ("en",), description="Languages in which questions are accepted, comma-separated ISO 639-1 codes."
    )
    log_format: Literal["auto", "json", "console"] = Field(
        "auto", description="`auto`: console on a terminal, else JSON."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Least severe line that is logged."
    )

    gemini_api_key: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("GEMINI_API_KEY", "gemini_api_key"),
        description="Remote profile: generation and embeddings.",
    )
    qdrant_url: str | None = Field(
        None, validation_alias=AliasChoices("QDRANT_URL", "qdrant_url"), description="Remote profile: vectors."
    )
    qdrant_api_key: SecretStr | None = Field(
        None, validation_alias=AliasChoices("QDRANT_API_KEY", "qdrant_api_key"), description="Remote profile: vectors."
    )

    @field_validator("cors_origins", "allowed_hosts", "trusted_proxies", "languages", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:  # noqa: ANN401 - whatever the environment holds
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _overlap_fits(self) -> "Settings":
        if self.chunk_overlap_tokens * 2 > self.chunk_tokens:
            raise ValueError("LUTRIN_CHUNK_OVERLAP_TOKENS may be at most half of LUTRIN_CHUNK_TOKENS")
        return self

    @property
    def catalog_path(self) -> Path:
        """Database of books, generations and cached embeddings."""
        return self.data_dir / "catalog.db"

    @property
    def books_dir(self) -> Path:
        """One folder a book, in it one folder a generation."""
        return self.data_dir / "books"

    @property
    def chats_path(self) -> Path:
        """Encrypted database of conversations."""
        return self.data_dir / "chats.db"

    @property
    def chat_key_path(self) -> Path:
        """File that holds the key of the conversations, mode 0600."""
        return self.data_dir / "chat.key"


def load_settings(**overrides: Any) -> Settings:  # noqa: ANN401 - values are checked against the fields
    """Read the settings from the environment and `.env`.

    Args:
        **overrides: Values of command-line options, by field name; None means not given.

    Raises:
        InvalidSettings: A variable is missing or wrong; the message names it.
    """
    try:
        settings = Settings(**{name: value for name, value in overrides.items() if value is not None})
    except ValidationError as error:
        raise InvalidSettings("; ".join(_explain(dict(item)) for item in error.errors())) from None
    if settings.profile == "remote":
        for name in REMOTE_REQUIRED:
            if getattr(settings, name.lower()) is None:
                raise InvalidSettings(messages.MISSING_VARIABLE.format(name=name))
    return settings


def variable_name(field: str) -> str:
    """The environment variable of a settings field."""
    alias = Settings.model_fields[field].validation_alias
    return str(alias.choices[0]) if isinstance(alias, AliasChoices) else f"LUTRIN_{field.upper()}"


def described(settings: Settings) -> list[tuple[str, str, str]]:
    """Variable, value (secrets hidden) and meaning of every setting, in order of declaration."""
    rows = []
    for field, info in Settings.model_fields.items():
        value = getattr(settings, field)
        shown = ",".join(value) if isinstance(value, tuple) else "" if value is None else str(value)
        rows.append((variable_name(field), shown, info.description or ""))
    return rows


def _explain(item: dict[str, Any]) -> str:
    location = item.get("loc") or ()
    message = str(item["msg"]).removeprefix("Value error, ")
    if not location:
        return message
    name = str(location[0])
    return f"{variable_name(name) if name in Settings.model_fields else name}: {message}"
