"""The routes of OpenEnv's task discovery: listing, paging, fetching one, starting it."""

from __future__ import annotations

from typing import Any

import pytest

from ecom_rlve.envs.registry import environments


def posted(http: Any, path: str, **body: Any) -> Any:
    answer = http.call("POST", path, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def highest(http: Any, env_id: str) -> int:
    listed = {each["env_id"]: each["max_difficulty"] for each in http.call("GET", "/envs").json()}
    return int(listed[env_id])


def test_environments_and_splits_are_listed(http: Any) -> None:
    assert http.call("GET", "/list_environments").json() == list(environments())
    assert http.call("GET", "/e_cart/splits").json() == [
        {"name": "train", "type": "train"},
        {"name": "eval", "type": "validation"},
        {"name": "test", "type": "test"},
    ]


def test_tasks_run_through_difficulties_and_seeds(http: Any) -> None:
    levels = highest(http, "CART") + 1
    assert posted(http, "/CART/num_tasks", split="eval") == {"num_tasks": levels * 1000}
    listed = posted(http, "/cart/tasks", split="eval")
    tasks = listed["tasks"]
    assert (listed["env_name"], len(tasks)) == ("CART", 1000)
    named = [(task["env_id"], task["split"], task["difficulty"], task["seed"]) for task in tasks[: levels + 1]]
    assert named == [*(("CART", "eval", level, 0) for level in range(levels)), ("CART", "eval", 0, 1)]
    assert tasks[3]["id"] == "CART/eval/3/0"
    assert len({task["id"] for task in tasks}) == 1000
    assert posted(http, "/CART/task", split="eval", index=7) == {"task": tasks[7]}
    assert posted(http, "/CART/task_range", split="eval", start=5, stop=9)["tasks"] == tasks[5:9]
    (last,) = posted(http, "/CART/task_range", split="eval", start=-1)["tasks"]
    assert (last["difficulty"], last["seed"], last["index"]) == (levels - 1, 999, levels * 1000 - 1)


def test_a_task_starts_by_a_reset_with_its_fields(http: Any) -> None:
    task = posted(http, "/CART/task", split="test", index=23)["task"]
    started = http.reset(**task)
    wanted = {name: task[name] for name in ("env_id", "difficulty", "seed", "split")}
    assert {name: started["metadata"][name] for name in wanted} == wanted
    assert set(task) == {"id", "index", *wanted}, "a task tells nothing of its goal"


def test_an_environment_that_the_catalog_cannot_serve_has_no_tasks(http: Any) -> None:
    assert highest(http, "SUB") == -1
    assert posted(http, "/SUB/num_tasks", split="train") == {"num_tasks": 0}
    assert posted(http, "/SUB/tasks", split="train")["tasks"] == []


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/NOPE/tasks", {"split": "train"}, 404, "UNKNOWN_ENV"),
        ("/CART/tasks", {"split": "validation"}, 422, "VALIDATION_ERROR"),
        ("/CART/tasks", {}, 422, "VALIDATION_ERROR"),
        ("/CART/task", {"split": "train", "index": -1}, 422, "VALIDATION_ERROR"),
        ("/CART/task", {"split": "train", "index": 10**9}, 422, "VALIDATION_ERROR"),
        ("/CART/task", {"split": "train"}, 422, "VALIDATION_ERROR"),
        ("/CART/task_range", {"split": "train"}, 422, "VALIDATION_ERROR"),
        ("/CART/task_range", {"split": "train", "start": 0, "stop": 1001}, 422, "VALIDATION_ERROR"),
    ],
)
def test_a_wrong_question_is_told(http: Any, path: str, body: Any, status: int, code: str) -> None:
    answer = http.call("POST", path, json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
