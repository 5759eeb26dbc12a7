"""The crowd: its policy ends every episode, its check finds a wrong reward, and a short run leaves nothing behind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.episode.log import FINISH
from ecom_rlve.envs.episode.trace import take, trace_of
from ecom_rlve.envs.registry import environment, environments
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.bench.crowd.checking import check
from ecom_rlve.evaluation.bench.crowd.talk import talk


def played(shop: Shop, env_id: str, seed: int) -> Episode:
    """Play one episode with the crowd's policy."""
    about = environment(env_id).about.info(0).model_dump()
    episode = Episode(shop, EpisodeSpec(env_id, seed=seed), f"{env_id}-{seed}")
    policy = talk(about, episode.opening.user_message, Random(seed))
    frame = next(policy)
    while True:
        seen = take(episode, FINISH if frame["type"] == "finish" else frame["data"])
        if seen.done:
            return episode
        frame = policy.send(seen.model_dump(exclude_unset=True))


@pytest.mark.parametrize("env_id", sorted(environments()))
def test_the_policy_ends_episodes_in_every_way(wide_shop: Shop, env_id: str) -> None:
    results = [played(wide_shop, env_id, seed).result for seed in range(40)]
    endings = {result.termination.value for result in results if result is not None}
    assert endings >= {"answered", "format_failure", "turn_budget"}
    reasons = [result.reason or "" for result in results if result is not None]
    assert not [reason for reason in reasons if reason.startswith("answer")], "its answers fit their schema"


def test_the_check_finds_what_is_wrong(shop: Shop, tmp_path: Path) -> None:
    episode = played(shop, "CART", 1)
    trace = trace_of(episode).dump()
    assert episode.result is not None
    reward = episode.result.r_total
    other = trace.replace('\\"turn\\":1', '\\"turn\\":7')
    assert other != trace
    written = [(reward, trace), (reward + 0.1, trace), (reward, other)]
    file = tmp_path / "traces"
    file.write_text("".join(json.dumps({"reward": told, "trace": text}) + "\n" for told, text in written))
    checked = check(file, shop)
    assert checked.right == 1
    assert [each.split(":")[0] for each in checked.wrong] == ["CART 1", "CART 1"]
    assert "the client was told" in checked.wrong[0]
    assert sum(checked.endings.values()) == 3


@pytest.mark.slow
def test_a_short_crowd_leaves_nothing_behind() -> None:
    command = [sys.executable, "-P", "-m", "ecom_rlve.evaluation.bench.crowd", "--clients=32", "--seconds=10"]
    done = subprocess.run([*command, "--pause=0.1"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "left behind: 0 places, 0 episodes" in done.stdout
    assert ", 0 wrong" in done.stdout
