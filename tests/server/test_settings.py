"""Settings come from the environment, once, under one prefix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from ecom_rlve.server.settings import Settings


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"ECOM_RLVE_{name.upper()}", raising=False)
    monkeypatch.delenv("PORT", raising=False)


def test_the_defaults_are_those_of_the_contract() -> None:
    settings = Settings()
    assert (settings.port, settings.max_sessions, settings.idle_ttl_s) == (8000, 1024, 3600)
    assert (settings.ws_ping_interval_s, settings.ws_ping_timeout_s) == (30, 600)
    assert (settings.catalog, settings.max_body_bytes, settings.token) == ("synthetic", 1 << 20, None)
    assert not settings.disclose_to_policy
    assert not settings.reveal_goal


def test_every_field_is_read_under_the_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECOM_RLVE_MAX_SESSIONS", "7")
    monkeypatch.setenv("ECOM_RLVE_CACHE_DIR", "shop")
    monkeypatch.setenv("ECOM_RLVE_TOKEN", "open sesame")
    settings = Settings()
    assert (settings.max_sessions, settings.cache_dir) == (7, Path("shop"))
    assert settings.token is not None
    assert "sesame" not in repr(settings)


def test_port_is_honoured_and_the_prefixed_name_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "7860")
    assert Settings().port == 7860
    monkeypatch.setenv("ECOM_RLVE_PORT", "9000")
    assert Settings().port == 9000
    assert Settings(port=1234).port == 1234


def test_an_empty_variable_counts_as_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECOM_RLVE_TOKEN", "")
    monkeypatch.setenv("PORT", "")
    settings = Settings()
    assert (settings.token, settings.port) == (None, 8000)


@pytest.mark.parametrize(
    ("name", "value"),
    [("MAX_SESSIONS", "0"), ("IDLE_TTL_S", "-1"), ("PORT", "70000"), ("POOL_THREADS", "999"), ("LOG_LEVEL", "loud")],
)
def test_a_value_out_of_range_stops_the_start(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"ECOM_RLVE_{name}", value)
    with pytest.raises(ValidationError):
        Settings()


def test_the_store_is_in_the_users_state_folder_unless_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for home, folder in (
        ("", tmp_path / ".local/state"),
        ("not/absolute", tmp_path / ".local/state"),
        ("/s", Path("/s")),
    ):
        monkeypatch.setenv("XDG_STATE_HOME", home)
        assert Settings().store_path == folder / "ecom-rlve/store.sqlite3"
    monkeypatch.setenv("ECOM_RLVE_STORE", "memory")
    assert Settings().store_path is None
    monkeypatch.setenv("ECOM_RLVE_STORE", "runs.db")
    assert Settings().store_path == Path("runs.db")


@pytest.mark.parametrize(
    ("chosen", "why"),
    [
        ({"store": "memory", "journal": "sqlite"}, "journal sqlite stands in the store"),
        ({"store": "memory", "workers": 2}, "several workers share episodes through the journal"),
        ({"store": "runs.db", "journal": "memory", "workers": 2}, "several workers share episodes through the journal"),
    ],
)
def test_what_cannot_be_shared_is_refused_with_the_reason(chosen: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        Settings(**chosen)


def test_episodes_are_kept_where_the_store_is() -> None:
    assert not Settings(store="memory").is_journalled
    assert Settings(store=Path("runs.db"), workers=2).is_journalled
    assert not Settings(store=Path("runs.db"), journal="memory").is_journalled
