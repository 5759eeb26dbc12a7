"""A run that is killed and resumed repeats nothing, loses nothing, and says the same in the end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import httpx
import pytest

from ecom_rlve.commands.evaluating import Ended
from ecom_rlve.commands.reporting import write_report
from ecom_rlve.evaluation.judging.errors import OutputError, ResultsError
from ecom_rlve.evaluation.judging.folder import EPISODES, episodes, read_config
from ecom_rlve.evaluation.judging.journal import Journal, whole_lines

Evaluate = Callable[..., Ended]


def lines_in(folder: Path) -> int:
    path = folder / EPISODES
    return sum(1 for _ in whole_lines(path)) if path.exists() else 0


def killed_at(folder: Path, command: Sequence[str], lines: int) -> None:
    """Run a command, and kill it when so many episodes are saved."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while lines_in(folder) < lines:
            assert process.poll() is None, "the run ended before it could be killed"
            time.sleep(0.02)
    finally:
        process.kill()
        process.wait()


def command_of(folder: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-P", "-m", "ecom_rlve.cli", "eval", "--agent", "expert", "--out", str(folder), *arguments]


def check_that_killing_changes_nothing(tmp_path: Path, arguments: Sequence[str], kills: Sequence[int]) -> None:
    whole, resumed = tmp_path / "whole" / "run", tmp_path / "resumed" / "run"
    subprocess.run(command_of(whole, *arguments), check=True, capture_output=True)
    for lines in kills:
        killed_at(resumed, command_of(resumed, *arguments), lines)
    before = (resumed / EPISODES).read_bytes()
    done = subprocess.run(command_of(resumed, *arguments), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    after = (resumed / EPISODES).read_bytes()
    assert after.startswith(before[: before.rfind(b"\n") + 1])
    tasks = [[line.task for line in episodes(folder, read_config(folder))] for folder in (whole, resumed)]
    assert len(tasks[1]) == len(set(tasks[1])) == len(tasks[0])
    assert set(tasks[1]) == set(tasks[0])
    reports = [[path.read_text() for path in write_report([run], run / "report.html")] for run in (whole, resumed)]
    assert reports[0] == reports[1]


def test_killed_twice_and_resumed_is_as_uninterrupted(tmp_path: Path, judging_url: str) -> None:
    arguments = [
        "--url",
        judging_url,
        "--env",
        "CART,STATUS",
        "--difficulty",
        "0,2",
        "--episodes",
        "4",
        "--trials",
        "2",
    ]
    check_that_killing_changes_nothing(tmp_path, arguments, kills=(3, 12))


@pytest.mark.slow
def test_so_it_is_with_every_environment_and_a_server_of_its_own(tmp_path: Path) -> None:
    arguments = ["--difficulty", "0-12", "--episodes", "2", "--trials", "2"]
    check_that_killing_changes_nothing(tmp_path, arguments, kills=(100, 300))


@pytest.mark.slow
def test_episodes_that_a_killed_run_left_live_are_ended(tmp_path: Path, judging_url: str) -> None:
    arguments = ["--url", judging_url, "--env", "CART", "--difficulty", "2", "--episodes", "60"]
    killed_at(tmp_path, command_of(tmp_path, *arguments), 2)
    run_id = read_config(tmp_path).run_id
    left = httpx.get(f"{judging_url}/episodes", params={"run_id": run_id}).json()
    killed_at(tmp_path, command_of(tmp_path, *arguments), 20)
    now = httpx.get(f"{judging_url}/episodes", params={"run_id": run_id}).json()
    assert not {each["episode_id"] for each in left} & {each["episode_id"] for each in now}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_server_of_its_own_ends_with_a_killed_run(tmp_path: Path) -> None:
    code = (
        "import time\n"
        "from ecom_rlve.evaluation.local_server import server_process\n"
        "arguments = ('ecom_rlve.cli', 'serve', '--catalog', 'synthetic:50:0')\n"
        "with server_process(*arguments) as (_, pid):\n"
        "    print(pid, flush=True)\n"
        "    time.sleep(600)\n"
    )
    command = [sys.executable, "-P", "-c", code]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stdout is not None
    server = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    deadline = time.monotonic() + 60
    while Path(f"/proc/{server}/cmdline").exists() and Path(f"/proc/{server}/cmdline").read_bytes():
        assert time.monotonic() < deadline, "the server outlived the run"
        time.sleep(0.1)


def test_other_arguments_are_refused(tmp_path: Path, live_url: str, evaluated: Evaluate) -> None:
    chosen = {"agent": "say_nothing", "episodes": 1, "difficulties": (0,)}
    evaluated(tmp_path, live_url, **chosen)
    with pytest.raises(ResultsError, match="is of another run: seed was 0 and is 1; name another folder"):
        evaluated(tmp_path, live_url, **chosen, seed=1)
    again = evaluated(tmp_path, live_url, **chosen)
    assert (again.is_complete, lines_in(tmp_path)) == (True, 2)


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path, live_url: str, evaluated: Evaluate) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(ResultsError, match=r"holds thesis\.tex and no config\.json"):
        evaluated(tmp_path, live_url, agent="say_nothing")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_two_runs_do_not_share_a_folder(tmp_path: Path, live_url: str, evaluated: Evaluate) -> None:
    chosen = {"agent": "say_nothing", "episodes": 1, "difficulties": (0,)}
    evaluated(tmp_path, live_url, **chosen)
    with Journal(tmp_path / EPISODES), pytest.raises(OutputError, match="another run is writing"):
        evaluated(tmp_path, live_url, **chosen)


def test_a_damaged_line_in_the_middle_is_told_and_not_overwritten(
    tmp_path: Path, live_url: str, evaluated: Evaluate
) -> None:
    chosen = {"agent": "say_nothing", "episodes": 2, "difficulties": (0,)}
    evaluated(tmp_path, live_url, **chosen)
    path = tmp_path / EPISODES
    first, *others = path.read_text().splitlines(keepends=True)
    path.write_text(first[:100] + "\n" + "".join(others))
    with pytest.raises(ResultsError, match=r"episodes\.jsonl, line 1 is no line of a run"):
        evaluated(tmp_path, live_url, **chosen)
    path.write_text("".join([*others, others[0]]))
    with pytest.raises(ResultsError, match=r"line 4: .* is there twice"):
        evaluated(tmp_path, live_url, **chosen)
    strange = json.dumps(json.loads(others[0]) | {"seed": 5})
    path.write_text(f"{strange}\n")
    with pytest.raises(ResultsError, match=r"line 1: .* is no episode of .*config\.json"):
        evaluated(tmp_path, live_url, **chosen)


def test_a_deleted_folder_stops_the_run(tmp_path: Path, judging_url: str) -> None:
    folder = tmp_path / "run"
    arguments = ["--url", judging_url, "--env", "CART", "--difficulty", "2", "--episodes", "200"]
    process = subprocess.Popen(
        command_of(folder, *arguments), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    while lines_in(folder) < 1:
        time.sleep(0.02)
    (folder / EPISODES).rename(tmp_path / "kept.jsonl")
    _, said = process.communicate(timeout=120)
    assert process.returncode == 1
    assert said == f"ecom-rlve: {folder / EPISODES} was deleted while the run went on\n"
    assert (tmp_path / "kept.jsonl").read_bytes().endswith(b"\n")
