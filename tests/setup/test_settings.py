"""Settings are checked once, with messages that name the variable."""

import stat
from pathlib import Path

import pytest
from bench.chaos.wrong_settings import FREE, LATER, WRONG

from lutrin.errors import InvalidSettings
from lutrin.platform import close_to_others, open_to_others
from lutrin.settings import (
    Settings,
    describe_settings,
    load_settings,
    unknown_variables,
    variable_name,
    with_addresses,
)


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No variable of the machine and no `.env` of the checkout reaches these tests."""
    for field in Settings.model_fields:
        monkeypatch.delenv(variable_name(field), raising=False)
    monkeypatch.chdir(tmp_path_factory.mktemp("empty"))


def test_defaults_are_the_contracts() -> None:
    """Local profile, port 7860, three seconds, ten questions a minute."""
    settings = load_settings()
    assert (settings.profile, settings.port, settings.deadline_s, settings.rate_session_per_min) == (
        "local",
        7860,
        3,
        10,
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LUTRIN_PORT", "70000"),
        ("LUTRIN_PORT", "eighty"),
        ("LUTRIN_CHUNK_TOKENS", "99"),
        ("LUTRIN_CHUNK_OVERLAP_TOKENS", "201"),
        ("LUTRIN_PROFILE", "cloud"),
        ("LUTRIN_DEADLINE_S", "0"),
        ("LUTRIN_RATE_SESSION_PER_MIN", "-1"),
    ],
)
def test_a_wrong_value_names_its_variable(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """The operator sees which line to mend."""
    monkeypatch.setenv(name, value)
    with pytest.raises(InvalidSettings, match=name):
        load_settings()


def test_a_token_that_can_be_guessed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has at least sixteen characters, and the message says how to make one."""
    monkeypatch.setenv("LUTRIN_ADMIN_TOKEN", "x" * 15)
    with pytest.raises(InvalidSettings, match=r"LUTRIN_ADMIN_TOKEN.*openssl rand"):
        load_settings()
    monkeypatch.setenv("LUTRIN_ADMIN_TOKEN", "x" * 16)
    assert load_settings().admin_token is not None


def test_an_overlap_of_more_than_half_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks that repeat more than they say would never end."""
    monkeypatch.setenv("LUTRIN_CHUNK_TOKENS", "100")
    monkeypatch.setenv("LUTRIN_CHUNK_OVERLAP_TOKENS", "60")
    with pytest.raises(InvalidSettings, match="LUTRIN_CHUNK_OVERLAP_TOKENS"):
        load_settings()


@pytest.mark.parametrize("missing", ["GEMINI_API_KEY", "QDRANT_URL", "QDRANT_API_KEY"])
def test_the_remote_profile_names_what_is_missing(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    """The exact text of the contract."""
    monkeypatch.setenv("LUTRIN_PROFILE", "remote")
    for name in {"GEMINI_API_KEY", "QDRANT_URL", "QDRANT_API_KEY"} - {missing}:
        monkeypatch.setenv(name, "http://x.example")
    with pytest.raises(InvalidSettings) as caught:
        load_settings()
    assert caught.value.detail == f"Required environment variable {missing} not set."


def test_pgvector_needs_a_database_and_no_qdrant(monkeypatch: pytest.MonkeyPatch) -> None:
    """The database is the one thing that is missing; with it, no variable of Qdrant is asked for."""
    monkeypatch.setenv("LUTRIN_PROFILE", "remote")
    monkeypatch.setenv("LUTRIN_VECTORS", "pgvector")
    monkeypatch.setenv("GEMINI_API_KEY", "key")
    with pytest.raises(InvalidSettings, match="DATABASE_URL not set"):
        load_settings()
    monkeypatch.setenv("DATABASE_URL", "postgresql://lutrin@db.example/lutrin")
    assert load_settings().vector_store == "pgvector"


def test_vectors_stay_on_this_machine_in_the_local_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    """The local profile opens no connection, so a store elsewhere is refused, and by name."""
    assert load_settings().vector_store == "chroma"
    monkeypatch.setenv("LUTRIN_VECTORS", "pgvector")
    with pytest.raises(InvalidSettings, match="LUTRIN_VECTORS=pgvector needs LUTRIN_PROFILE=remote"):
        load_settings()


def test_the_former_way_to_keep_vectors_here_names_the_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """QDRANT_URL=local once meant Chroma."""
    monkeypatch.setenv("QDRANT_URL", "local")
    with pytest.raises(InvalidSettings, match="LUTRIN_VECTORS=chroma"):
        load_settings()


def test_lists_are_read_from_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blanks around the parts do not count."""
    monkeypatch.setenv("LUTRIN_CORS_ORIGINS", "https://school.github.io, http://localhost:3000 ,")
    assert load_settings().cors_origins == ("https://school.github.io", "http://localhost:3000")


def test_secrets_never_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the list of settings and in a printed object they are hidden."""
    monkeypatch.setenv("LUTRIN_ADMIN_TOKEN", "a-needle-in-a-haystack")
    settings = load_settings()
    assert "needle" not in repr(settings)
    assert "needle" not in str(describe_settings(settings))


def test_an_option_outranks_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given command-line options override; missing ones do not count."""
    monkeypatch.setenv("LUTRIN_PORT", "8000")
    assert load_settings(port=9000).port == 9000
    assert load_settings(port=None).port == 8000


def test_settings_are_frozen() -> None:
    """They cannot change after the start."""
    with pytest.raises(ValueError, match="frozen"):
        load_settings().port = 1


def test_every_setting_is_validated_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong value ends the start with a sentence that names its variable; a choice of words needs no row."""
    for field in Settings.model_fields.keys() - FREE - LATER.keys():
        with monkeypatch.context() as patched:
            patched.setenv(variable_name(field), WRONG.get(field, "none of them"))
            with pytest.raises(InvalidSettings, match=variable_name(field)):
                load_settings()


def test_origins_and_hosts_are_read_as_people_write_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slash at the end, capitals and the scheme's own port do no harm."""
    monkeypatch.setenv("LUTRIN_CORS_ORIGINS", "https://School.github.io/, http://localhost:3000, https://a.example:443")
    monkeypatch.setenv("LUTRIN_ALLOWED_HOSTS", "Book.School.example.")
    settings = load_settings()
    assert settings.cors_origins == ("https://school.github.io", "http://localhost:3000", "https://a.example")
    assert settings.allowed_hosts == ("book.school.example",)


def test_proxies_by_name_are_resolved_at_the_start() -> None:
    """Or the start ends and says which one has no address."""
    settings = load_settings(trusted_proxies="localhost,10.0.0.0/8")
    assert {"127.0.0.1"} < set(with_addresses(settings).trusted_proxies) | {"x"}
    assert "10.0.0.0/8" in with_addresses(settings).trusted_proxies
    with pytest.raises(InvalidSettings, match=r"LUTRIN_TRUSTED_PROXIES: no-such-proxy\.invalid has no address"):
        with_addresses(load_settings(trusted_proxies="no-such-proxy.invalid"))


def test_an_unknown_name_has_a_nearest_one(tmp_path: Path) -> None:
    """Whether it is in the environment or in `.env`; names that other parts read are known."""
    (tmp_path / ".env").write_text("LUTRIN_ALLOWED_HOST=a.example\nPOSTGRES_PASSWORD=x\n")
    given = {"LUTRIN_PROT": "80", "LUTRIN_QUUX_FROB": "1", "LUTRIN_PORT": "80", "LUTRIN_SERVERS": "a:1", "PATH": "/"}
    assert unknown_variables(given, tmp_path / ".env") == [
        ("LUTRIN_ALLOWED_HOST", "LUTRIN_ALLOWED_HOSTS"),
        ("LUTRIN_PROT", "LUTRIN_PORT"),
        ("LUTRIN_QUUX_FROB", ""),
    ]


def test_other_users_read_nothing(tmp_path: Path) -> None:
    """What an earlier version left open is closed; what is closed stays as it is."""
    (tmp_path / "catalog.db").touch(0o644)
    (tmp_path / "chats.db").touch(0o600)
    (tmp_path / "books").mkdir(0o755)
    assert [path.name for path in open_to_others(tmp_path)] == ["books", "catalog.db"]
    close_to_others(tmp_path)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {"catalog.db": 0o640, "chats.db": 0o600, "books": 0o750}


def test_in_another_folder_the_models_are_those_of_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`lutrin ingest` and `lutrin eval` work wherever they are called, unless that folder has models of its own."""
    monkeypatch.chdir(tmp_path)
    assert load_settings().models_dir == Path(__file__).parents[2] / "models"
    (tmp_path / "models").mkdir()
    assert load_settings().models_dir == Path("models")
