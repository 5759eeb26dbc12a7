"""Which modules get faults, and which tests should notice them: those of the mirrored folder, quick ones first.

Beside them stand the tests of whoever uses a module most. Goldens notice everything and say nothing, so they are not
here; nor are tests of pages.
"""

from __future__ import annotations

from pathlib import Path

_TASKS = "tests/envs/tasks"
_EPISODE = "tests/envs/episode"
_CUSTOMER = "tests/envs/customer"
_EPISODES = [
    f"{_EPISODE}/test_reward.py",
    f"{_EPISODE}/test_golden_episode_d1.py",
    f"{_EPISODE}/test_turns.py",
    f"{_EPISODE}/test_episode.py",
    f"{_EPISODE}/test_finish.py",
    f"{_EPISODE}/test_trace.py",
]
_LISTS = [f"{_TASKS}/test_recommending.py", f"{_TASKS}/test_product_discovery.py", f"{_TASKS}/test_substitution.py"]
_SERVER = [
    f"tests/server/test_{name}.py"
    for name in (
        "sessions",
        "service",
        "actions",
        "groups",
        "reset_arguments",
        "finish",
        "runs",
        "openings",
        "metrics",
        "http",
    )
]

TESTS: dict[str, list[str]] = {
    "envs/parts": ["tests/envs/parts", *_LISTS],
    "envs/parts/scores.py": ["tests/envs/parts/test_ndcg.py", "tests/envs/parts/test_unit_f1.py", *_LISTS],
    "envs/parts/recommendation.py": ["tests/envs/parts/test_recommendation.py", *_LISTS],
    "envs/parts/remembered.py": [
        "tests/envs/parts/test_remembered.py",
        f"{_TASKS}/test_order_status.py",
        f"{_TASKS}/test_returns.py",
    ],
    "envs/parts/solving.py": ["tests/envs/parts/test_solving.py", f"{_TASKS}/test_cart.py"],
    "envs/curriculum.py": ["tests/envs/test_curriculum.py", "tests/server/test_runs.py"],
    "envs/contract": [
        "tests/envs/contract",
        "tests/envs/test_about.py",
        "tests/envs/tools/test_tools.py",
        f"{_EPISODE}/test_action.py",
        f"{_TASKS}/test_policy_questions.py",
        "tests/envs/test_ninth_environment.py",
    ],
    "envs/episode": [*_EPISODES, f"{_EPISODE}/test_action.py", f"{_EPISODE}/test_observation.py"],
    "envs/episode/action.py": [f"{_EPISODE}/test_action.py", f"{_EPISODE}/reading", f"{_EPISODE}/test_episode.py"],
    "envs/episode/reading": [f"{_EPISODE}/reading", f"{_EPISODE}/test_action.py"],
    "envs/episode/reward.py": [*_EPISODES, f"{_TASKS}/test_journey.py"],
    "envs/episode/verdict.py": [*_EPISODES, f"{_TASKS}/test_journey.py"],
    "envs/customer/customer.py": [f"{_CUSTOMER}/test_customer.py", *_EPISODES, f"{_TASKS}/test_journey.py"],
    "envs/customer/conversation.py": [f"{_EPISODE}/test_turns.py", f"{_TASKS}/test_journey.py"],
    "envs/customer/hearing": [
        f"{_CUSTOMER}/hearing",
        f"{_CUSTOMER}/test_customer.py",
        f"{_EPISODE}/test_turns.py",
        f"{_EPISODE}/test_reword.py",
    ],
    "envs/tasks/bundle": [f"{_TASKS}/test_projects.py", f"{_TASKS}/test_bundle.py"],
    "envs/tasks/cart": [
        f"{_TASKS}/test_cart.py",
        f"{_TASKS}/test_visit_history.py",
        "tests/envs/world/test_stockout.py",
    ],
    "envs/tasks/journey": [f"{_TASKS}/test_journey.py"],
    "envs/tasks/order_status": [f"{_TASKS}/test_order_status.py"],
    "envs/tasks/policy_questions": [f"{_TASKS}/test_policy_questions.py"],
    "envs/tasks/product_discovery": [*_LISTS[:2], f"{_TASKS}/test_preferences.py"],
    "envs/tasks/returns": [f"{_TASKS}/test_returns.py"],
    "envs/tasks/substitution": [_LISTS[0], _LISTS[2]],
    "server/service.py": _SERVER,
    "server/sessions.py": _SERVER,
    "server/episodes": [*_SERVER, "tests/server/journal"],
    "server/journal": ["tests/server/journal"],
    "server/runs.py": _SERVER,
    "client": ["tests/client"],
}
"""Folder or module -> the tests of what is in it; the longest name that fits counts."""

ONLY = {"envs/tasks": {"environment.py", "goal.py"}}
"""Folder -> the modules below it that get faults, where not all of them do."""


def tests_by_module(root: Path) -> dict[str, list[str]]:
    """Return the tests of every module that gets faults, by its path."""
    found = {}
    for name in sorted(TESTS):
        path = root / name
        for file in sorted(path.glob("*.py")) if path.is_dir() else [path]:
            module = file.relative_to(root).as_posix()
            chosen = next((names for folder, names in ONLY.items() if module.startswith(folder)), None)
            if file.name != "__init__.py" and (chosen is None or file.name in chosen):
                found[module] = TESTS[name]
    return found
