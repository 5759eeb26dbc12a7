"""Print what an environment for the client's tests holds beside the package: ``requirements.py lowest`` or ``newest``.

The lowest versions are the bounds of ``dependencies`` in pyproject.toml, the tools of the tests those of its extra
``dev``, so that no version is written twice.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

TOOLS = ("hypothesis", "pytest")
"""How the names of the tools begin: pytest's plugins are meant too."""


def requirements(kind: str) -> list[str]:
    """Return one requirement a line; of ``newest`` those of the client are left to pip, which takes the newest."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    base = [Requirement(line) for line in project["dependencies"]]
    lowest = [f"{each.name}=={bound.version}" for each in base for bound in each.specifier if bound.operator == ">="]
    tools = [line for line in project["optional-dependencies"]["dev"] if line.startswith(TOOLS)]
    return {"lowest": lowest, "newest": [each.name for each in base]}[kind] + tools


if __name__ == "__main__":
    print("\n".join(requirements(sys.argv[1])))
