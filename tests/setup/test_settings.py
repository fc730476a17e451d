"""Settings are checked once, with messages that name the variable."""

import pytest

from lutrin.errors import InvalidSettings
from lutrin.settings import Settings, described, load_settings, variable_name


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
        monkeypatch.setenv(name, "x")
    with pytest.raises(InvalidSettings) as caught:
        load_settings()
    assert caught.value.detail == f"Required environment variable {missing} not set."


def test_lists_are_read_from_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blanks around the parts do not count."""
    monkeypatch.setenv("LUTRIN_CORS_ORIGINS", "https://school.github.io, http://localhost:3000 ,")
    assert load_settings().cors_origins == ("https://school.github.io", "http://localhost:3000")


def test_secrets_never_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in the list of settings nor in a printed object."""
    monkeypatch.setenv("LUTRIN_ADMIN_TOKEN", "needle-in-haystack")
    settings = load_settings()
    assert "needle" not in repr(settings)
    assert "needle" not in str(described(settings))


def test_an_option_outranks_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is typed on the command line holds; what is not given does not count."""
    monkeypatch.setenv("LUTRIN_PORT", "8000")
    assert load_settings(port=9000).port == 9000
    assert load_settings(port=None).port == 8000


def test_settings_are_frozen() -> None:
    """Nobody changes them after the start."""
    with pytest.raises(ValueError, match="frozen"):
        load_settings().port = 1
