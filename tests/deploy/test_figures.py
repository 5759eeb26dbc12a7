"""The dashboard and the alarms name only figures that a server tells, and every alarm is explained."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from fastapi import FastAPI
from prometheus_client.parser import text_string_to_metric_families

from ecom_rlve.envs.customer.outcome import Outcome
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.server.app import create_app
from ecom_rlve.server.settings import Settings

NAME = re.compile(r"\becom_rlve_[a-z_]+\b")
LABEL = re.compile(r"\b(?P<label>[a-z_]+)=~?\"|by \((?P<list>[a-z_, ]+)\)")
OF_PROMETHEUS = {"job", "instance", "le", "pid"}


@pytest.fixture(scope="module")
def told(shop: Shop) -> dict[str, set[str]]:
    """The labels of every series that a server tells, by name, once something of everything has happened."""
    app = create_app(Settings(), shop=shop)
    metrics = app.state.service.metrics
    metrics.watch_breaker(lambda: False)
    metrics.watch_journal(lambda: 0)
    metrics.count_wording(next(iter(Outcome)))
    text = asyncio.run(played(app))
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        for sample in (each for each in family.samples if not each.name.endswith("_created")):
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


async def played(app: FastAPI) -> str:
    """Play until every figure has counted something, and return the figures."""
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://shop", timeout=None) as client:
        opened = await client.post("/reset", json={"env_id": "CART"})
        wrong = {"tool_calls": [{"name": "catalog_get_variants", "args": {"product_id": "none"}}]}
        for action in (wrong, {"text": "no action"}, {}):
            episode_id = opened.json()["observation"]["episode_id"]
            await client.post("/step", json={"episode_id": episode_id, "action": action})
        figures = await client.get("/metrics")
    await app.state.service.aclose()
    return figures.text


def expressions(deploy: Path) -> Iterator[str]:
    """Yield every expression of the dashboard and of the alarms."""
    dashboard: dict[str, Any] = json.loads((deploy / "grafana/dashboard.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            yield target["expr"]
    for rule in rules(deploy):
        yield rule["expr"]


def rules(deploy: Path) -> list[dict[str, Any]]:
    """Return the alarms."""
    (group,) = yaml.safe_load((deploy / "prometheus/alerts.yaml").read_text())["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


def test_every_figure_that_is_shown_or_alarms_is_told(deploy: Path, told: dict[str, set[str]]) -> None:
    named = {name for each in expressions(deploy) for name in NAME.findall(each)}
    assert len(named) > 25
    assert named <= told.keys()


def test_every_label_belongs_to_a_figure_of_its_expression(deploy: Path, told: dict[str, set[str]]) -> None:
    wrong = []
    for each in expressions(deploy):
        known = OF_PROMETHEUS.union(*(told[name] for name in NAME.findall(each)))
        for match in LABEL.finditer(each):
            labels = {match["label"]} if match["label"] else set(match["list"].split(", "))
            wrong += [(label, each) for label in labels - known]
    assert not wrong


def test_panels_have_a_place_of_their_own_and_say_what_they_show(deploy: Path) -> None:
    panels = json.loads((deploy / "grafana/dashboard.json").read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    shown = [panel for panel in panels if panel["type"] != "row"]
    assert [panel["title"] for panel in shown if not panel["description"]] == []
    places = [
        (x, y)
        for panel in panels
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(set(places)) == len(places)


def test_every_alarm_and_every_figure_is_explained(deploy: Path, told: dict[str, set[str]]) -> None:
    page = (deploy.parent / "docs/operations.md").read_text()
    figures = {name if name.endswith("_total") else re.sub("_(bucket|sum|count)$", "", name) for name in told}
    assert [rule["alert"] for rule in rules(deploy) if f"`{rule['alert']}`" not in page] == []
    assert sorted(name for name in figures if f"`{name}`" not in page) == []
