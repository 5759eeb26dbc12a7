"""A submission is a row of the board if its suite is whole, every trace replays, and nobody told the agent more."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from ecom_rlve.commands.evaluating import Ended
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.judging.board import Row, add_to_board, board_tables, faults_of, read_board, row_of
from ecom_rlve.evaluation.judging.errors import JudgingError, ResultsError
from ecom_rlve.evaluation.judging.folder import CONFIG, EPISODES
from ecom_rlve.evaluation.judging.plan import Plan
from ecom_rlve.evaluation.judging.replaying import again
from ecom_rlve.evaluation.judging.suite import with_suite
from ecom_rlve.server.app import create_app, server_config
from ecom_rlve.server.settings import Settings

Evaluate = Callable[..., Ended]


@pytest.fixture(scope="module")
def default_url(big_shop: Shop, listening: Callable[[uvicorn.Config], AbstractContextManager[str]]) -> Iterator[str]:
    """A server with the default catalog, which suites are played with."""
    settings = Settings().model_copy(update={"catalog": "synthetic", "log_level": "warning"})
    with listening(server_config(create_app(settings, shop=big_shop), settings)) as url:
        yield url


@pytest.fixture(scope="module")
def submitted(
    tmp_path_factory: pytest.TempPathFactory, default_url: str, evaluated: Evaluate, plan_of: Callable[..., Plan]
) -> Path:
    """Return the results of an agent over the small suite."""
    folder = tmp_path_factory.mktemp("board") / "answers"
    plan = with_suite(plan_of(agent="answer_at_once", split="test"), "small")
    assert evaluated(folder, default_url, **plan.model_dump()).is_complete
    return folder


def faults(folder: Path, shop: Shop, only: int | None = None) -> list[str]:
    """Return what is wrong; ``only`` so many of the first episodes are played again."""
    played: list[int] = []

    def differs(line: Any) -> str | None:
        played.append(1)
        return again(line, shop) if only is None or len(played) <= only else None

    return faults_of(folder, is_reference=False, differs=differs)


def test_an_honest_submission_is_a_row(submitted: Path, big_shop: Shop, tmp_path: Path) -> None:
    assert faults(submitted, big_shop) == []
    row = row_of(submitted, is_reference=False)
    assert (row.agent, row.suite_hash, row.episodes, row.success) == ("answer_at_once", "1967d0d6fd8b9f42", 160, 0)
    assert len(row.by_env) == 8
    add_to_board(tmp_path / "board.json", row)
    better = row.model_copy(update={"agent": "openai:m", "calls": "native", "style": "tool", "success": 0.5})
    add_to_board(tmp_path / "board.json", better)
    add_to_board(tmp_path / "board.json", row.model_copy(update={"reward": -0.5}))
    rows = read_board(tmp_path / "board.json")
    assert [(each.agent, each.reward) for each in rows] == [("openai:m", better.reward), ("answer_at_once", -0.5)]
    tables = board_tables(rows)
    assert tables.count("### small (`1967d0d6fd8b9f42`)") == 2
    assert "| openai:m, native | 50.0%" in tables
    (tmp_path / "board.json").write_text('[{"agent": 1}]')
    with pytest.raises(ResultsError, match="is no board"):
        read_board(tmp_path / "board.json")


def _in_plan(**values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda config: config["plan"].update(values)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (_in_plan(suite=None), "no suite was played"),
        (_in_plan(suite="big"), "no suite was played"),
        (_in_plan(split="eval"), "a suite is played with split test, not eval"),
        (_in_plan(suite_hash="0"), "suite_hash is '0', and the suite's is '1967d0d6fd8b9f42'"),
        (_in_plan(difficulties=[0]), "difficulties is (0,), and the suite's is (0, 4, 8, 12)"),
        (_in_plan(trials=1000, episodes=100_000), "episodes is 100000, and the suite's is 5"),
        (lambda config: config["server"].update(source="mine"), "the catalog is mine, not synthetic"),
    ],
)
def test_another_configuration_is_told(
    tmp_path: Path, submitted: Path, big_shop: Shop, change: Callable[[dict[str, Any]], None], fault: str
) -> None:
    folder = Path(shutil.copytree(submitted, tmp_path / "run"))
    config = json.loads((folder / CONFIG).read_text())
    change(config)
    (folder / CONFIG).write_text(json.dumps(config))
    assert faults(folder, big_shop, only=0)[0].startswith(fault)


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"discloses_acts": True}, "the server disclosed the customer's acts"),
        ({"simulator": "mine"}, "the customer was worded by mine"),
        ({"axes": {"p_oos": 0.0}}, "axes were overridden"),
        ({"style": "tool"}, "style is tool, and the run's is turn"),
        ({"reward": 1.0}, "the line says 1.0, and its trace -"),
        ({"trace": "{}"}, "this is no trace"),
    ],
)
def test_another_line_is_told(
    tmp_path: Path, submitted: Path, big_shop: Shop, values: dict[str, Any], fault: str
) -> None:
    folder = Path(shutil.copytree(submitted, tmp_path / "run"))
    first, *others = (folder / EPISODES).read_text().splitlines(keepends=True)
    line = json.loads(first) | values
    (folder / EPISODES).write_text("".join([json.dumps(line) + "\n", *others]))
    assert fault in faults(folder, big_shop, only=1)[0]


def test_what_is_missing_is_told_and_another_trace_is_no_stand_in(
    tmp_path: Path, submitted: Path, big_shop: Shop
) -> None:
    folder = Path(shutil.copytree(submitted, tmp_path / "run"))
    first, second, *others = (folder / EPISODES).read_text().splitlines(keepends=True)
    (folder / EPISODES).write_text("".join(others))
    assert faults(folder, big_shop, only=0)[-1].startswith("2 episodes are missing, such as ")
    swapped = json.loads(first) | {"trace": json.loads(second)["trace"]}
    (folder / EPISODES).write_text("".join([json.dumps(swapped) + "\n", second, *others]))
    assert "and its trace is" in faults(folder, big_shop, only=1)[0]


def test_a_suite_needs_its_catalog(
    tmp_path: Path, live_url: str, evaluated: Evaluate, plan_of: Callable[..., Plan]
) -> None:
    plan = with_suite(plan_of(agent="say_nothing", split="test"), "small")
    with pytest.raises(JudgingError, match="serves PD up to difficulty 3"):
        evaluated(tmp_path, live_url, **plan.model_dump())


def test_the_boards_own_rows_are_of_todays_suite(plan_of: Callable[..., Plan]) -> None:
    rows = read_board(Path(__file__).parents[3] / "docs" / "board.json")
    assert {row.agent for row in rows if row.kind == "reference"} >= {"oracle", "expert", "say_nothing"}
    suites = {(row.suite, row.suite_hash) for row in rows}
    assert suites == {(name, with_suite(plan_of(split="test"), name).suite_hash) for name, _ in suites}
    best: Row = max(rows, key=lambda row: row.success)
    assert (best.agent, best.success) == ("oracle", 1.0)
