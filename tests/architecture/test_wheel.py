"""The built wheel: complete, and usable as a thin client without any extra."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command outside the repository and return what it printed."""
    return subprocess.run(list(map(str, command)), cwd=cwd, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def wheel(tree: list[Path], root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy, since building writes into the source tree."""
    scratch = tmp_path_factory.mktemp("wheel")
    for path in tree:
        if path.is_file():
            target = scratch / "source" / path.relative_to(root)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", scratch, scratch / "source", cwd=scratch)
    (built,) = scratch.glob("*.whl")
    return built


def test_wheel_holds_every_module_and_nothing_else(wheel: Path, package_files: dict[str, Path]) -> None:
    names = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert {name for name in names if name.endswith(".py")} == {f"ecom_rlve/{name}" for name in package_files}
    assert "ecom_rlve/py.typed" in names


def test_wheel_without_extras_imports_the_client(wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)
    code = "import sys, ecom_rlve.client, ecom_rlve.models; print(ecom_rlve.__file__, 'numpy' in sys.modules)"
    # A PYTHONPATH of the environment must not stand in for the wheel.
    where, has_numpy = run(python, "-E", "-c", code, cwd=tmp_path).split()
    assert Path(where).is_relative_to(tmp_path)
    assert has_numpy == "False"
