"""``/ready`` says what is missing, without a path; ``/health`` answers all the same."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ecom_rlve.server.operations import readiness


def missing(http: Any) -> dict[str, str]:
    """Return what a server lacks by its answer."""
    answer = http.call("GET", "/ready")
    told = {each["part"]: each["reason"] for each in answer.json().get("missing", ())}
    assert (answer.status_code, "retry-after" in answer.headers) == ((503, True) if told else (200, False))
    assert http.call("GET", "/health").status_code == 200
    return told


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite3"


def test_a_server_that_lacks_nothing_is_ready_without_a_token(api: Any, store: Path) -> None:
    assert missing(api(store=store, token="t")) == {}


def test_a_store_that_somebody_else_writes_for_long_is_missing(
    api: Any, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    http = api(store=store)
    monkeypatch.setattr("ecom_rlve.server.store.database._CHECK_S", 0.05)
    with closing(sqlite3.connect(store, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        told = missing(http)
        other.execute("ROLLBACK")
    assert list(told) == ["store"]
    assert "locked" in told["store"]
    assert str(store.parent) not in told["store"]
    assert missing(http) == {}


def test_a_store_whose_file_was_removed_is_missing_and_not_made_anew(api: Any, store: Path) -> None:
    http = api(store=store)
    store.unlink()
    assert list(missing(http)) == ["store"]
    assert not store.exists()


def test_a_full_disk_is_missing_room(api: Any, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    http = api(store=store)
    monkeypatch.setattr(readiness, "LEAST_FREE_BYTES", 1 << 60)
    assert missing(http)["store"].endswith("MiB left")


@pytest.mark.parametrize(("fallback", "told"), [("none", ["customer"]), ("template", []), (None, [])])
def test_a_model_that_rests_is_missing_where_no_template_may_speak(fallback: str, told: list[str]) -> None:
    resting: Any = SimpleNamespace(is_resting=True)
    assert list(readiness.missing({"customer": readiness.model_check(resting, fallback)})) == told


def test_a_catalog_that_cannot_be_read_is_missing(http: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http.service._shop.catalog, "titles", ())
    assert missing(http)["catalog"] == "cannot be used: IndexError"


def test_a_server_that_stops_is_not_ready(http: Any) -> None:
    http.service.drain.begin()
    assert list(missing(http)) == ["drain"]
