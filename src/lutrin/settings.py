"""Settings: from the environment and `.env`, checked once at start, then passed as an argument.

Nothing here is read at import. A wrong value ends the start with a message that names the variable.
"""

import difflib
import ipaddress
import os
import re
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from dotenv import dotenv_values
from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from lutrin import messages
from lutrin.errors import InvalidSettings
from lutrin.installed import ABOVE

GEMINI_URL = "https://generativelanguage.googleapis.com/v1beta/openai/"
GEMINI_MODEL = "gemini-2.5-flash-lite"
SHORTEST_TOKEN_CHARS = 16
ORIGIN = re.compile(r"([a-z][a-z0-9+.-]*)://([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?/?")
HOST_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_][a-z0-9_-]{0,62})*")
ALIKE = 0.75
"""Similarity (difflib's ratio) above which an unknown name is reported as a misspelling of a known one."""
ELSEWHERE = frozenset(
    """LUTRIN_TEST_PROFILE LUTRIN_CITATIONS LUTRIN_SERVERS LUTRIN_PROXY_PORT LUTRIN_PUBLISH LUTRIN_SITE
    LUTRIN_MEMORY LUTRIN_ENGINE""".split()
)
"""Variables that set-up, the tests, the site's build, compose.yaml or the Caddyfile read."""
LANGUAGES = frozenset(
    """af am an ar as az ba be bg bn br bs ca cs cy da de dz el en eo es et eu fa fi fo fr fy ga gd gl gu ha he hi hr
    ht hu hy id ig is it ja jv ka kk km kn ko ku ky la lb lg ln lo lt lv mg mk ml mn mr ms mt my ne nl nn no oc om
    or pa pl ps pt qu ro ru rw sa se si sk sl sn so sq sr sr st sv sw ta te tg th tk tl tr tt ug uk ur uz uz vi vo
    wa xh yo zh zu""".split()
)
"""ISO 639-1 codes of the languages that the language check can recognise."""
ROOT_PATH = re.compile(r"(?:/[A-Za-z0-9._~-]+)*/?")
MODELS = Path("models")
LOCAL = "local"
"""Value of a model setting that keeps this part on this machine under the remote profile."""


def _split(value: object) -> object:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def _origin(text: str) -> str:
    """An origin as browsers send it: lower case, without a slash at the end or the scheme's own port."""
    if text == "*":
        return text
    match = ORIGIN.fullmatch(text.lower())
    if match is None:
        raise ValueError(f"{text} is not an origin; write scheme and host, such as https://school.github.io")
    scheme, host, port = match.groups()
    own = {"http": "80", "https": "443"}.get(scheme)
    return f"{scheme}://{host}" if not port or port == own else f"{scheme}://{host}:{port}"


def _host_name(text: str) -> str:
    if text == "*":
        return text
    name = text.lower().rstrip(".")
    if not HOST_NAME.fullmatch(name):
        raise ValueError(f"{text} is not a host name; write it alone, without scheme, port or path")
    return name


def _proxy(text: str) -> str:
    try:
        return str(ipaddress.ip_network(text, strict=False))
    except ValueError:
        if HOST_NAME.fullmatch(text.lower()) and not re.fullmatch(r"[\d.]+", text):
            return text.lower()
    raise ValueError(f"{text} is not an address, network or host name")


def _languages(value: tuple[str, ...]) -> tuple[str, ...]:
    codes = tuple(dict.fromkeys(item.lower() for item in value))
    unknown = [code for code in codes if code not in LANGUAGES]
    if unknown or not codes:
        raise ValueError(f"{', '.join(unknown) or 'nothing'} is not a known ISO 639-1 code, such as en, de, fr")
    return codes


def _root_path(value: str) -> str:
    if not ROOT_PATH.fullmatch(value):
        raise ValueError("it must be a path of letters, digits and . _ ~ -, such as /lutrin")
    return value.rstrip("/")


def _long_token(value: SecretStr) -> SecretStr:
    if len(value.get_secret_value()) < SHORTEST_TOKEN_CHARS:
        raise ValueError(f"it needs {SHORTEST_TOKEN_CHARS} characters or more; make one: openssl rand -hex 24")
    return value


def _key(value: SecretStr) -> SecretStr:
    if not re.fullmatch(r"[0-9a-fA-F]{64}", value.get_secret_value()):
        raise ValueError("it must hold 64 hexadecimal digits; make one: openssl rand -hex 32")
    return value


def _url(value: str) -> str:
    if not re.fullmatch(r"https?://[^\s/]+(/\S*)?", value):
        raise ValueError("it must be an address that begins with http:// or https://")
    return value


def _qdrant_url(value: str) -> str:
    if value == LOCAL:
        raise ValueError("to keep the vectors on this disk, set LUTRIN_VECTORS=chroma instead")
    return _url(value)


def _folder(value: Path) -> Path:
    if value.exists() and not value.is_dir():
        raise ValueError(f"{value} is a file; a folder is needed")
    return value


def _models(value: Path) -> Path:
    """Fall back to the models of the running checkout if the current folder has none."""
    own = ABOVE / MODELS
    return own if value == MODELS and not value.is_dir() and (own / "manifest.toml").is_file() else value


def _each(check: Callable[[str], str]) -> AfterValidator:
    return AfterValidator(lambda values: tuple(dict.fromkeys(map(check, values))))


Words = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
"""Comma-separated values."""
Url = Annotated[str, AfterValidator(_url)]
Folder = Annotated[Path, AfterValidator(_folder)]


class Settings(BaseSettings):
    """Everything that an operator can set; `lutrin config --all` lists it."""

    model_config = SettingsConfigDict(
        env_prefix="LUTRIN_",
        env_file=".env",
        env_file_encoding="utf-8",
        extra="ignore",
        frozen=True,
        env_ignore_empty=True,
        use_attribute_docstrings=True,
    )

    profile: Literal["local", "remote"] = "local"
    """`local` or `remote`. `local` opens no outgoing connection."""
    data_dir: Folder = Path("data")
    """Folder of the catalogue, the indexes and the conversations."""
    models_dir: Annotated[Folder, AfterValidator(_models)] = Field(MODELS, validate_default=True)
    """Folder of the model files and their manifest."""
    corpus_dir: Path = Path("corpus")
    """Folder of the books; commands can name another."""

    model: str = "auto"
    """Language model: `auto` (the largest that fits this machine's memory and speed), `none` (only the book's own
    words), `tiny`, `small`, `medium`, `large`, a GGUF file or a hub model."""
    tune: bool = True
    """Measure the model's formats once after its download (`lutrin models tune --short`, a minute)."""
    model_threads: int = Field(0, ge=0, le=256)
    """CPU threads of the language model; 0: the physical cores."""
    model_context_tokens: int = Field(8192, ge=1024, le=262_144)
    """Context of the model in tokens, shared by all simultaneous answers."""
    model_cache: Literal["f16", "q8_0"] = "f16"
    """Number format of the model's key-value cache: 16 bits, or 8 bits in half the memory."""
    passage_cache_mb: Literal["auto"] | Annotated[int, Field(ge=0, le=1 << 20)] = "auto"
    """Memory in MB for passages that the model has read; `auto`: a quarter of what is free, up to 1024."""
    passage_disk_mb: int = Field(2048, ge=0, le=1 << 20)
    """Disk space in MB for passages that the model has read, up to a quarter of the free space; 0: none."""
    gpu_layers: Literal["auto"] | Annotated[int, Field(ge=0, le=1000)] = "auto"
    """Layers of the model that a graphics processor computes; `auto`: all, if the engine has one."""
    model_slots: int = Field(10, ge=1, le=64)
    """Answers that the model writes at the same time."""
    queue_limit: int = Field(64, ge=0, le=10_000)
    """Readers who may wait for the model; others get excerpts at once."""
    deadline_s: float = Field(3.0, gt=0, le=600)
    """Seconds within which every reader gets the book's answer, even while the model is busy."""
    live_s: float = Field(15.0, ge=0, le=600)
    """Longest expected wait, in seconds, for which the model explains unasked; beyond it, the explanation is only
    offered. 0: it is offered unless it begins within a second."""
    explain_s: float = Field(120.0, gt=0, le=600)
    """Maximum of `wait_s`: seconds that a program may wait for an explanation. Streams have no such limit."""
    answer_tokens: int = Field(400, ge=16, le=2048)
    """Maximum tokens of an explanation; small models get fewer."""
    own_words: bool = True
    """Let a capable model add an analogy of its own, marked as not from the book."""
    grades: Literal["marked", "strict"] = "marked"
    """Which sentences of a model are shown. `marked`: those that the book states and, with a mark, likely ones;
    `strict`: only those that the book states."""

    study_after_s: int = Field(300, ge=0, le=86_400)
    """Idle seconds (no question, no opened page) before the model studies the books; 0: never."""
    study_on_battery: bool = False
    """Let the model study while the machine runs on battery."""
    study_exercises: bool = False
    """Let the model's study answer the book's own exercises; pupils can then find the answers."""

    embedder: str = "default"
    """Local embedding model: `default` (ours), another model of the manifest, or one of fastembed's list such as
    `BAAI/bge-small-en-v1.5`. A change needs `lutrin models fetch` and `lutrin ingest`."""
    rerank: str = "auto"
    """Cross-encoder that reranks the best passages of a question: `auto` (ours, with the default embedder), `none`, or
    another model of the manifest."""
    chunk_tokens: int = Field(400, ge=100, le=1000)
    """Target length of a chunk in tokens, headings included."""
    chunk_overlap_tokens: int = Field(50, ge=0, le=200)
    """Tokens that neighbouring chunks of a section share."""
    watch: bool = False
    """Watch the folder of the books, and read new and changed files once they are complete."""
    ocr: bool = False
    """Recognise the text of scanned PDF pages; needs `just ocr` or `pip install lutrin[ocr]`."""
    top_k: int = Field(5, ge=1, le=50)
    """Number of passages to find for a question."""

    host: str = "127.0.0.1"
    """Address that `lutrin serve` listens on."""
    port: int = Field(7860, ge=1, le=65_535)
    """Port that `lutrin serve` listens on."""
    cors_origins: Annotated[Words, _each(_origin)] = ("http://localhost:3000", "http://127.0.0.1:3000")
    """Origins whose pages may send questions, comma-separated; `*` allows all."""
    allowed_hosts: Annotated[Words, _each(_host_name)] = ()
    """Further host names of this server, comma-separated; requests for other names are refused (DNS rebinding)."""
    trusted_proxies: Annotated[Words, _each(_proxy)] = ()
    """Proxies whose X-Forwarded-For is trusted, comma-separated addresses, networks or names."""
    root_path: Annotated[str, AfterValidator(_root_path)] = ""
    """URL path under which a proxy serves this server, such as /lutrin; a trusted X-Forwarded-Prefix overrides it."""
    open_sessions: bool = False
    """Let anyone who knows the id of a conversation read it."""
    rate_session_per_min: int = Field(10, ge=0, le=100_000)
    """Questions a minute from a session; 0: no limit."""
    rate_peer_per_min: int = Field(300, ge=0, le=1_000_000)
    """Questions a minute from a network address; 0: no limit."""
    connections: int = Field(2000, ge=16, le=60_000)
    """Maximum number of connections; at the limit, a new one replaces the connection that has been idle longest."""
    connections_per_peer: int = Field(400, ge=8, le=60_000)
    """Maximum number of connections from one network address; trusted proxies may have more."""
    metrics: Literal["open", "token"] = "open"
    """Who may read /metrics. `open`: everyone; `token`: requests with LUTRIN_ADMIN_TOKEN."""
    admin_token: Annotated[SecretStr, AfterValidator(_long_token)] | None = None
    """Password for the teacher's page and for administration over HTTP; empty: off."""
    chat_key: Annotated[SecretStr, AfterValidator(_key)] | None = None
    """Key that encrypts conversations; empty: the key in the file `chat.key`."""
    conversation_kb: int = Field(4096, ge=64, le=1_048_576)
    """Maximum size of a conversation in kilobytes; later messages are not stored."""
    reader_kb: int = Field(65_536, ge=64, le=16_777_216)
    """Maximum size of one browser's conversations in kilobytes."""
    free_space_mb: int = Field(500, ge=0, le=1_048_576)
    """Disk space to keep free, in megabytes; below it, nothing more is stored; 0: no limit."""
    retention_days: int = Field(0, ge=0, le=36_500)
    """Days after which conversations are deleted; 0: never."""
    languages: Annotated[Words, AfterValidator(_languages)] = ("en",)
    """Languages that questions may be in, comma-separated ISO 639-1 codes."""
    log_format: Literal["auto", "json", "console"] = "auto"
    """Format of the log; `auto`: `console` on a terminal, else `json`."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Lowest level to log."""

    gemini_api_key: SecretStr | None = Field(None, validation_alias=AliasChoices("GEMINI_API_KEY", "gemini_api_key"))
    """Remote profile: key of the service for generation and embeddings."""
    vectors: Literal["auto", "chroma", "qdrant", "pgvector"] = "auto"
    """Remote profile: store of the vectors. `chroma`: on this disk; `qdrant`: in QDRANT_URL; `pgvector`: in
    DATABASE_URL; `auto`: `qdrant`. A change needs `lutrin ingest --rebuild` or `lutrin import-index`; neither embeds
    anything again."""
    qdrant_url: Annotated[str, AfterValidator(_qdrant_url)] | None = Field(
        None, validation_alias=AliasChoices("QDRANT_URL", "qdrant_url")
    )
    """Remote profile: address of Qdrant."""
    qdrant_api_key: SecretStr | None = Field(None, validation_alias=AliasChoices("QDRANT_API_KEY", "qdrant_api_key"))
    """Remote profile: key of Qdrant."""
    qdrant_prefix: str = Field("", pattern=r"^[A-Za-z0-9_-]{0,40}$")
    """Remote profile: prefix of Qdrant's collections."""
    database_url: SecretStr | None = Field(None, validation_alias=AliasChoices("DATABASE_URL", "database_url"))
    """Remote profile: the PostgreSQL database that servers share, `postgresql://user:password@host/name`."""
    share_books: bool = True
    """Remote profile: servers get the books from PostgreSQL; false: servers share one data folder."""
    llm_base_url: Url = GEMINI_URL
    """Remote profile: address of a service that speaks OpenAI's protocol (vLLM, llama-server, Ollama)."""
    llm_model: str = GEMINI_MODEL
    """Remote profile: language model of that service. `local`: use LUTRIN_MODEL."""
    embed_model: str = "gemini-embedding-001"
    """Remote profile: embedding model of that service. `local`: use LUTRIN_EMBEDDER."""
    embed_dimension: int = Field(768, ge=384, le=4096)
    """Remote profile: dimensions of the embedding model's vectors."""

    @model_validator(mode="after")
    def _overlap_fits(self) -> "Settings":
        if self.chunk_overlap_tokens * 2 > self.chunk_tokens:
            raise ValueError("LUTRIN_CHUNK_OVERLAP_TOKENS may be at most half of LUTRIN_CHUNK_TOKENS")
        return self

    @property
    def vector_store(self) -> Literal["chroma", "qdrant", "pgvector"]:
        """Store of the vectors under this profile."""
        if self.vectors != "auto":
            return self.vectors
        return "qdrant" if self.profile == "remote" else "chroma"

    @property
    def catalog_path(self) -> Path:
        """Database of books, generations and cached embeddings."""
        return self.data_dir / "catalog.db"

    @property
    def books_dir(self) -> Path:
        """Folder of the indexes: a subfolder for each book, and in it one for each generation."""
        return self.data_dir / "books"

    @property
    def approved_path(self) -> Path:
        """Hashes of the companions that were approved on this machine."""
        return self.data_dir / "study" / "approved.txt"

    def studied_path(self, slug: str) -> Path:
        """The companion of a book that `lutrin study` writes on this machine."""
        return self.data_dir / "study" / f"{slug}.companion.jsonl"

    @property
    def chats_path(self) -> Path:
        """Encrypted database of conversations."""
        return self.data_dir / "chats.db"

    @property
    def chat_key_path(self) -> Path:
        """File that holds the key of the conversations, mode 0600."""
        return self.data_dir / "chat.key"


def with_addresses(settings: Settings) -> Settings:
    """Replace the names of proxies by their current addresses."""
    addresses: list[str] = []
    for proxy in settings.trusted_proxies:
        if "/" in proxy:
            addresses.append(proxy)
            continue
        try:
            addresses += [str(item[4][0]) for item in socket.getaddrinfo(proxy, None, type=socket.SOCK_STREAM)]
        except OSError as error:
            raise InvalidSettings(
                f"LUTRIN_TRUSTED_PROXIES: {proxy} has no address ({error.strerror}).",
                remedy="Give the proxy's address or network, or start the proxy first.",
            ) from None
    return settings.model_copy(update={"trusted_proxies": tuple(dict.fromkeys(addresses))})


def unknown_variables(
    environment: Mapping[str, str] | None = None, env_file: Path = Path(".env")
) -> list[tuple[str, str]]:
    """List `LUTRIN_` variables of environment and `.env` that nothing reads, each with the nearest known name."""
    names = [*(os.environ if environment is None else environment)]
    if env_file.is_file():
        names += dotenv_values(env_file, interpolate=False)
    variables = {variable_name(field) for field in Settings.model_fields}
    unknown = sorted({name for name in names if name.upper().startswith("LUTRIN_")} - ELSEWHERE)
    nearest = {name: difflib.get_close_matches(name.upper(), variables, 1, ALIKE) for name in unknown}
    return [(name, (nearest[name] or [""])[0]) for name in unknown if name.upper() not in variables]


def load_settings(**overrides: Any) -> Settings:  # noqa: ANN401 - values are checked against the fields
    """Read the settings from the environment and `.env`; command-line options (None: not given) override them.

    Raises:
        InvalidSettings: A variable is missing or wrong; the message names it.
    """
    try:
        settings = Settings(**{name: value for name, value in overrides.items() if value is not None})
    except ValidationError as error:
        raise InvalidSettings("; ".join(_explain(dict(item)) for item in error.errors())) from None
    if settings.profile == "remote":  # a part that stays local needs no variable
        is_local = {
            "GEMINI_API_KEY": settings.llm_model == settings.embed_model == LOCAL,
            "QDRANT_URL": settings.vector_store != "qdrant",
            "QDRANT_API_KEY": settings.vector_store != "qdrant",
            "DATABASE_URL": settings.vector_store != "pgvector",
        }
        for name, needless in is_local.items():
            if not needless and getattr(settings, name.lower()) is None:
                raise InvalidSettings(messages.MISSING_VARIABLE.format(name=name))
    elif settings.vector_store != "chroma":
        raise InvalidSettings(
            f"LUTRIN_VECTORS={settings.vectors} needs LUTRIN_PROFILE=remote.",
            remedy="The local profile keeps the vectors on this disk: `chroma`.",
        )
    return settings


def require_own_data(settings: Settings) -> None:
    """Refuse a command that works on this machine's files alone where services hold a part of the data."""
    if settings.profile == "remote" and (settings.vector_store != "chroma" or settings.database_url is not None):
        raise InvalidSettings(
            "Qdrant or PostgreSQL hold a part of the data, and this command copies files of this machine alone.",
            remedy="`lutrin export-index` keeps the books; pg_dump keeps the conversations. See docs/scaling.md.",
        )


def variable_name(field: str) -> str:
    """The environment variable of a settings field."""
    alias = Settings.model_fields[field].validation_alias
    return str(alias.choices[0]) if isinstance(alias, AliasChoices) else f"LUTRIN_{field.upper()}"


COMMON = frozenset(
    (
        "profile", "data_dir", "corpus_dir", "model", "languages", "ocr", "host", "port", "cors_origins",
        "trusted_proxies", "admin_token", "retention_days",
    )
)  # fmt: skip
"""The settings that people set; all others are advanced."""


def is_advanced(variable: str) -> bool:
    """Whether a variable is for unusual machines or purposes."""
    return variable not in {variable_name(field) for field in COMMON}


def describe_settings(settings: Settings) -> list[tuple[str, str, str]]:
    """Variable, value (secrets hidden) and meaning of every setting, in order of declaration."""
    rows = []
    for field, info in Settings.model_fields.items():
        value = getattr(settings, field)
        text = ",".join(value) if isinstance(value, tuple) else "" if value is None else str(value)
        rows.append((variable_name(field), text, " ".join((info.description or "").split())))
    return rows


def _explain(item: dict[str, Any]) -> str:
    location = item.get("loc") or ()
    message = str(item["msg"]).removeprefix("Value error, ")
    if not location:
        return message
    name = str(location[0])
    return f"{variable_name(name) if name in Settings.model_fields else name}: {message}."
