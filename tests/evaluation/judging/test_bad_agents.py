"""Whatever an agent does, its episode ends as documented, and the run goes on (docs/judging.md)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ecom_rlve.commands.evaluating import Ended
from ecom_rlve.evaluation.judging.errors import JudgingError
from ecom_rlve.evaluation.judging.folder import episodes, read_config
from ecom_rlve.evaluation.judging.records import EpisodeLine
from ecom_rlve.models import Termination

Evaluate = Callable[..., Ended]
FINISHED, FORMAT = Termination.TURN_BUDGET, Termination.FORMAT_FAILURE


@pytest.fixture(autouse=True, scope="module")
def importable() -> Iterator[None]:
    """Let the agents be imported by name, as those of the current folder are."""
    sys.path.insert(0, str(Path(__file__).parent))
    yield
    sys.path.remove(str(Path(__file__).parent))


def lines(folder: Path) -> list[EpisodeLine]:
    return list(episodes(folder, read_config(folder)))


@pytest.mark.parametrize(
    ("name", "kind", "ending"),
    [
        ("hang", "timeout", FINISHED),
        ("waits", "timeout", FINISHED),
        ("crash", "crash", FINISHED),
        ("stop", "crash", FINISHED),
        ("leave", "crash", FINISHED),
        ("unmade", "crash", FINISHED),
        ("nothing", "unreadable", FORMAT),
        ("no_json", "unreadable", FORMAT),
        ("not_a_number", "unreadable", FORMAT),
        ("unknown_field", "unreadable", FORMAT),
        ("huge_action", "unreadable", FORMAT),
        ("unknown_tool", None, FORMAT),
        ("huge_text", None, FORMAT),
        ("prose", None, FORMAT),
        ("same_request", None, FINISHED),
    ],
)
def test_its_episode_ends_as_documented(
    tmp_path: Path, live_url: str, evaluated: Evaluate, name: str, kind: str | None, ending: Termination
) -> None:
    patience = 0.5 if kind == "timeout" else 60
    done = evaluated(tmp_path, live_url, agent=f"python:bad_agents:{name}", difficulties=(0,), patience_s=patience)
    assert (done.is_complete, done.failures) == (True, [])
    found = lines(tmp_path)
    assert len(found) == 4
    assert {(line.fault.kind if line.fault else None, line.result.termination) for line in found} == {(kind, ending)}
    assert {line.result.is_correct for line in found} == {False}
    assert (
        {line.reward for line in found} <= {-1.0} if ending is FORMAT else {line.reward < 0 for line in found} == {True}
    )


def test_a_good_one_is_judged_as_the_built_in_one(tmp_path: Path, judging_url: str, evaluated: Evaluate) -> None:
    evaluated(tmp_path / "a", judging_url, agent="python:bad_agents:expert", episodes=1)
    evaluated(tmp_path / "b", judging_url, agent="expert", episodes=1)
    rewards = [{line.task: line.reward for line in lines(tmp_path / name)} for name in ("a", "b")]
    assert rewards[0] == rewards[1]
    assert len(rewards[0]) == 4


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("python:bad_agents", "names no factory; write python:module:factory"),
        ("python:no_such_module:make", "cannot be imported: ModuleNotFoundError"),
        ("python:bad_agents:make", "cannot be imported: AttributeError"),
        ("python:bad_agents:number", "is a int and cannot be called"),
        ("wizard", "no agent 'wizard'; there are oracle, expert, first_hit"),
        ("skips_check", "no agent 'skips_check'; there are"),
        ("add_whole_history", "add_whole_history does not play in STATUS"),
    ],
)
def test_what_is_no_agent_is_told_before_the_first_episode(
    tmp_path: Path, live_url: str, evaluated: Evaluate, path: str, message: str
) -> None:
    with pytest.raises(JudgingError, match=message):
        evaluated(tmp_path, live_url, agent=path)
    assert list(tmp_path.iterdir()) == []
