"""What the tests of the deployments look at, and how they import the programs beside it."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def deploy() -> Path:
    """The folder of what is deployed."""
    return ROOT / "deploy"


@pytest.fixture(scope="session")
def dockerfile_reader(deploy: Path) -> ModuleType:
    """The module that reads Dockerfiles."""
    sys.path.insert(0, str(deploy))
    try:
        return import_module("dockerfile")
    finally:
        sys.path.remove(str(deploy))
