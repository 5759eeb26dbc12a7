"""See what ``openenv push`` makes of this repository: it wants one file more, which a copy of the tree can be given."""

from __future__ import annotations

import shutil
from importlib.machinery import PathFinder
from pathlib import Path
from tempfile import TemporaryDirectory

from openenv.cli._cli_utils import validate_env_structure

ROOT = Path(__file__).parents[2]
WANTED = ("openenv.yaml", "__init__.py", "README.md", "pyproject.toml", "Dockerfile")


def refusal(folder: Path) -> str:
    """Return what the layout of a folder is refused for; empty where it is not."""
    try:
        warnings = validate_env_structure(folder)
    except FileNotFoundError as error:
        return str(error)
    assert warnings == ["Recommended directory missing: outputs/"], warnings
    return ""


def main() -> None:
    """Check the tree, then a copy with an empty ``client.py``, beside which the folder stays the package."""
    assert refusal(ROOT) == "Required file missing: client.py", refusal(ROOT)
    with TemporaryDirectory() as made:
        copy = Path(made)
        for name in WANTED:
            shutil.copy(ROOT / name, copy)
        shutil.copytree(ROOT / "client", copy / "client")
        (copy / "client.py").touch()
        assert refusal(copy) == "", refusal(copy)
        found = PathFinder.find_spec("client", [made])
        assert found is not None
        assert found.origin == str(copy / "client/__init__.py"), found
    print("openenv push: the tree lacks client.py alone; a copy with an empty one is accepted")


if __name__ == "__main__":
    main()
