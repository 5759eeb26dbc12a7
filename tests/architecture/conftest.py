"""What the architecture tests look at: the repository as it lies on disk."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOT_IN_THE_PACKAGE = {"tests", "docs", "pages", "deploy", "validation"}


def _walk(folder: Path, ignored: list[str]) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if any(fnmatch(path.name, pattern) for pattern in ignored):
            continue
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from _walk(path, ignored)


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the repository, which is also the folder of the package."""
    return ROOT


@pytest.fixture(scope="session")
def tree(root: Path) -> list[Path]:
    """Every file, folder and link that .gitignore does not exclude; needs no git, so an archive will do."""
    lines = (root / ".gitignore").read_text().split()
    return list(_walk(root, [".git", *(line.rstrip("/") for line in lines)]))


@pytest.fixture(scope="session")
def package_files(root: Path, tree: list[Path]) -> dict[str, Path]:
    """Every module of the package by its path relative to the root, such as ``catalog/columns/table.py``."""
    relative = {path.relative_to(root): path for path in tree if path.suffix == ".py"}
    return {
        name.as_posix(): path
        for name, path in relative.items()
        if name.parts[0] not in NOT_IN_THE_PACKAGE and not name.parts[0].startswith(".")
    }


@pytest.fixture(scope="session")
def pyproject(root: Path) -> dict[str, Any]:
    """The parsed pyproject.toml."""
    return tomllib.loads((root / "pyproject.toml").read_text())
