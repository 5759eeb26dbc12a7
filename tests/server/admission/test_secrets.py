"""What no answer and no log line tells: paths, tokens, ids of episodes, goals."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ecom_rlve.server.admission.log_filter import Discreet

ROOT = Path(__file__).parents[3]
CART = {"env_id": "CART", "difficulty": 1, "seed": 42}


def test_no_answer_tells_a_path(api: Callable[..., Any], tmp_path: Path) -> None:
    secret = tmp_path / "secret folder"
    http = api(catalog=str(secret / "shop"), cache_dir=secret, reports=secret, token="open-sesame")
    headers = {"Authorization": "Bearer open-sesame"}
    paths = http.call("GET", "/openapi.json", headers=headers).json()["paths"]
    told = []
    for path, methods in paths.items():
        for method in methods:
            for body in ({}, {"run_id": 1}, [str(secret)]):
                spelled = path.format(run_id="r", episode_id="e", env="CART")
                told.append(http.call(method.upper(), spelled, headers=headers, json=body).text)
    assert len(told) > 60
    assert not [text for text in told if "secret folder" in text.replace(json.dumps([str(secret)]), "")]
    assert not [text for text in told if "sesame" in text or "site-packages" in text or "Traceback" in text]
    assert http.call("GET", "/metadata", headers=headers).json()["catalog"]["source"] == "shop"


def test_no_log_line_holds_an_id_a_token_or_a_goal(
    api: Callable[..., Any], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A server that ran in this process before has told the logger to keep its lines to itself.
    monkeypatch.setattr(logging.getLogger("ecom_rlve"), "propagate", True)
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "ecom_rlve")
    http = api(token="open-sesame", access_log=True)
    headers = {"Authorization": "Bearer open-sesame"}
    first = http.call("POST", "/reset", headers=headers, json=CART).json()["observation"]
    episode_id = first["episode_id"]
    for action in ({"text": "no action"}, {}, [1]):
        http.call("POST", "/step", headers=headers, json={"episode_id": episode_id, "action": action})
    http.call("GET", f"/state?episode_id={episode_id}", headers=headers)
    http.call("GET", f"/episodes/{episode_id}/trace", headers=headers)
    lines = "\n".join(f"{record.getMessage()} {record.args}" for record in caplog.records if "rlve" in record.name)
    assert lines
    words = set(re.findall(r"[A-Z][a-z]{4,}", first["user_message"]))
    assert words
    for secret in (episode_id, "sesame", *words):
        assert secret not in lines


def test_an_exception_is_told_by_its_place_alone() -> None:
    try:
        raise ValueError("the goal is B0001")
    except ValueError as error:
        record = logging.LogRecord(
            "x", logging.ERROR, "f", 1, "failed\n", None, (type(error), error, error.__traceback__)
        )
    assert Discreet().filter(record)
    text = logging.Formatter().format(record)
    assert text.startswith("failed type=ValueError at=test_secrets.py:")
    assert "B0001" not in text
    assert "\n" not in text


def test_the_page_on_security_names_tests_that_there_are() -> None:
    page = (ROOT / "docs" / "security.md").read_text()
    names = re.findall(r"`(test_[a-z0-9_]+)`", page)
    folders = re.findall(r"`(tests/[\w/.]+)`", page)
    source = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    assert len(names) > 15
    assert not [name for name in names if f"def {name}(" not in source]
    assert not [path for path in folders if not (ROOT / path).exists()]
