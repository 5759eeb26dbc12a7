"""What a run recorded is replayed to the byte, learnt from, and checked for a board."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ecom_rlve.client import EcomEnv
from ecom_rlve.client.tool_chat import CHAT_RESET, ToolChat
from ecom_rlve.commands.evaluating import Ended
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.judging.errors import ResultsError
from ecom_rlve.evaluation.judging.export import exported
from ecom_rlve.evaluation.judging.folder import EPISODES, episodes, read_config
from ecom_rlve.evaluation.judging.replaying import again, mismatches, recorded_in

Evaluate = Callable[..., Ended]


@pytest.fixture(scope="module")
def store() -> Shop:
    """Return the shop of the servers that the runs were played against."""
    return Shop.open("synthetic:600:0")


def changed(played: Path, folder: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """Copy results, with a change of the first line."""
    shutil.copytree(played, folder)
    first, *others = (folder / EPISODES).read_text().splitlines(keepends=True)
    line = json.loads(first)
    change(line)
    (folder / EPISODES).write_text("".join([json.dumps(line) + "\n", *others]))
    return folder


def test_every_episode_replays(played: Path, played_badly: Path, store: Shop) -> None:
    done: list[int] = []
    recorded = [*recorded_in(played), *recorded_in(played_badly)]
    assert list(mismatches(recorded, store, lambda: done.append(1))) == []
    assert len(done) == 28


def _more_reward(line: dict[str, Any]) -> None:
    line["reward"] = 1.0


def _another_word(line: dict[str, Any]) -> None:
    line["trace"] = line["trace"].replace("the", "teh", 1)


def _another_split(line: dict[str, Any]) -> None:
    line["split"] = "test"


def _another_result(line: dict[str, Any]) -> None:
    line["result"]["is_correct"] = not line["result"]["is_correct"]


@pytest.mark.parametrize("change", [_more_reward, _another_word, _another_split, _another_result])
def test_a_change_of_anything_is_noticed(
    tmp_path: Path, played: Path, store: Shop, change: Callable[[dict[str, Any]], None]
) -> None:
    folder = changed(played, tmp_path / "run", change)
    assert len(list(mismatches(recorded_in(folder), store))) == 1


def test_a_trace_alone_replays_and_another_catalog_is_told(
    tmp_path: Path, played: Path, store: Shop, shop: Shop
) -> None:
    line = next(episodes(played, read_config(played)))
    (tmp_path / "trace.jsonl").write_text(line.trace)
    assert list(mismatches(recorded_in(tmp_path / "trace.jsonl"), store)) == []
    with pytest.raises(ResultsError, match=r"was played with the catalog .*: name its source with --catalog"):
        list(mismatches(recorded_in(tmp_path / "trace.jsonl"), shop))
    (tmp_path / "trace.jsonl").write_text(line.trace[:-200])
    with pytest.raises(ResultsError, match="this is no trace"):
        list(recorded_in(tmp_path / "trace.jsonl"))
    assert again(line.model_copy(update={"trace": "{}"}), store) is not None


@pytest.fixture(scope="module")
def chats(tmp_path_factory: pytest.TempPathFactory, judging_url: str, evaluated: Evaluate) -> Path:
    """Return an expert's episodes, played one call at a time."""
    folder = tmp_path_factory.mktemp("runs") / "chats"
    evaluated(
        folder,
        judging_url,
        style="tool",
        envs=("CART", "POLICY", "RETURN", "STATUS", "PD"),
        difficulties=(0, 1),
        episodes=1,
    )
    return folder


def test_an_exported_chat_plays_to_the_same_end(chats: Path, live_url: str) -> None:
    """A model that had written these messages would have seen the same, and got the same reward."""
    lines = [json.loads(each.line) for each in exported(chats) if not each.skipped]
    assert len(lines) >= 8
    with EcomEnv(live_url) as env:
        for line in lines:
            about = line["metadata"]
            spec = {name: about[name] for name in ("env_id", "difficulty", "seed")}
            chat = ToolChat(env.reset(**spec, split="eval", **CHAT_RESET))
            for message in line["messages"]:
                if message["role"] == "assistant":
                    chat.hear(env.step(chat.act(message)))
            assert chat.messages[: len(line["messages"])] == line["messages"]
            assert chat.result.done
            assert (chat.result.reward, chat.tools) == (about["reward"], line["tools"])


def test_exported_calls_keep_to_the_schemas_and_hold_no_acts(chats: Path) -> None:
    lines = [json.loads(each.line) for each in exported(chats) if not each.skipped]
    calls = [
        (call["function"], {schema["function"]["name"]: schema["function"]["parameters"] for schema in line["tools"]})
        for line in lines
        for message in line["messages"]
        for call in message.get("tool_calls", ())
    ]
    assert len(calls) > 20
    assert [
        call
        for call, schemas in calls
        if not Draft202012Validator(schemas[call["name"]]).is_valid(json.loads(call["arguments"]))
    ] == []
    assert {message["role"] for line in lines for message in line["messages"]} == {
        "system",
        "user",
        "assistant",
        "tool",
    }
    assert {line["messages"][-1]["role"] for line in lines} == {"assistant"}
    assert "p_missing" not in json.dumps(lines)
    assert '"acts"' not in json.dumps(lines)


def test_what_is_no_chat_is_left_out_with_a_reason(played: Path) -> None:
    found = list(exported(played))
    assert len(found) > 8
    assert {each.skipped for each in found} == {
        "played in style turn: a model that calls tools natively plays in style tool"
    }
