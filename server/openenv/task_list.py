"""Episodes as the numbered tasks of OpenEnv's task discovery: which there are, and what each resets with.

A task is an environment, a difficulty, a split and a seed, and nothing else: the goal is drawn from them at the reset.
Difficulties change fastest, so that the first tasks of a list are of all difficulties.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from ecom_rlve.models import Split
from ecom_rlve.server.errors import BadRequestError

SEEDS_LISTED = 1_000
"""Seeds of each environment and difficulty that are listed. A reset takes any other seed too."""
MOST_AT_ONCE = 1_000
"""Tasks in one answer."""
SPLITS: Mapping[str, str] = dict(zip(get_args(Split), ("train", "validation", "test"), strict=True))
"""Our splits, each with the name that OpenEnv has for its kind."""

Task = dict[str, Any]


class TaskList:
    """The tasks of some environments on one catalog."""

    def __init__(self, highest: Mapping[str, int]) -> None:
        """``highest`` holds the highest difficulty that can be served, by environment; -1 where none can."""
        self._kinds = [(env_id, level) for env_id, most in highest.items() for level in range(most + 1)]

    @staticmethod
    def splits() -> list[dict[str, str]]:
        """Return the splits with their kinds."""
        return [{"name": name, "type": kind} for name, kind in SPLITS.items()]

    def count(self, split: str) -> int:
        """Return the number of tasks; raises ``BadRequestError`` where there is no such split."""
        if split not in SPLITS:
            raise BadRequestError(f"split: one of {', '.join(SPLITS)} is wanted")
        return len(self._kinds) * SEEDS_LISTED

    def task(self, split: str, index: int) -> Task:
        """Return one task, whose fields are arguments of a reset; raises ``IndexError`` where there is none."""
        if not 0 <= index < self.count(split):
            raise IndexError(f"index: there are {self.count(split)} tasks, from 0")
        seed, kind = divmod(index, len(self._kinds))
        env_id, difficulty = self._kinds[kind]
        named = {"env_id": env_id, "difficulty": difficulty, "seed": seed, "split": split}
        return {"id": f"{env_id}/{split}/{difficulty}/{seed}", "index": index, **named}

    def some(self, split: str, start: int | None = None, stop: int | None = None) -> list[Task]:
        """Return the tasks of a range, whose bounds are those of a Python slice.

        Raises:
            BadRequestError: they are more than :data:`MOST_AT_ONCE`, or there is no such split.
        """
        chosen: Sequence[int] = range(self.count(split))[start:stop]
        if len(chosen) > MOST_AT_ONCE:
            raise BadRequestError(f"start and stop: {len(chosen)} tasks; at most {MOST_AT_ONCE} are listed at once")
        return [self.task(split, index) for index in chosen]

    def first(self, split: str) -> list[Task]:
        """Return the beginning of the list: as many tasks as one answer holds."""
        return self.some(split, 0, MOST_AT_ONCE)
