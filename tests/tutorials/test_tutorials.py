"""The tutorials are run as a reader would: every block, in order, in an empty folder; they show what is printed.

``tests/training/with_trl`` runs the one that needs TRL.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
import uvicorn

from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.server.app import create_app, server_config
from ecom_rlve.server.settings import Settings

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs/tutorials"
RUN = ("first_episode", "reading_a_reward")
SLOW = ("judging_a_model", "own_catalog")
NOT_HERE = {"training_with_trl", "ninth_environment"}
SHOWN = re.compile(r"^```(?:py|toml)\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def url(big_shop: Shop, listening: Callable[[uvicorn.Config], AbstractContextManager[str]]) -> Iterator[str]:
    """A server of the default catalog that reveals goals."""
    changes = {"catalog": "synthetic", "log_level": "warning", "reveal_goal": True}
    settings = Settings().model_copy(update=changes)
    with listening(server_config(create_app(settings, shop=big_shop), settings)) as served:
        yield served


def check(url: str, *pages: Path) -> subprocess.CompletedProcess[str]:
    """Run the script that plays tutorials."""
    command = [sys.executable, str(ROOT / "pages/tutorials.py"), "--check", "--url", url, *map(str, pages)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_every_tutorial_is_run() -> None:
    assert {path.stem for path in FOLDER.glob("*.md")} == {*RUN, *SLOW} | NOT_HERE


@pytest.mark.parametrize("name", RUN)
def test_a_fast_tutorial_prints_what_it_shows(url: str, name: str) -> None:
    done = check(url, FOLDER / f"{name}.md")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_a_slow_tutorial_prints_what_it_shows(url: str, name: str) -> None:
    done = check(url, FOLDER / f"{name}.md")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_ninth_environment_is_the_one_that_is_tested() -> None:
    """Pieces of the module, frames and docstring are the files that test_ninth_environment puts in place."""
    blocks = SHOWN.findall((FOLDER / "ninth_environment.md").read_text())
    lookup = ROOT / "tests/envs/ninth/lookup"
    docstring, *pieces, checked = blocks
    frames = next(block for block in pieces if block.startswith("#"))
    pieces.remove(frames)
    assert docstring == (lookup / "__init__.py").read_text()
    assert frames == (lookup / "frames.toml").read_text()
    assert squeezed("".join(pieces)) == squeezed((lookup / "environment.py").read_text())
    assert "check_environment(environment(" in checked


def squeezed(text: str) -> str:
    """Return text without empty lines, which a page has not where it cuts."""
    return "\n".join(line for line in text.splitlines() if line)


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ('```python\nprint("one")\n```\n\n```text\ntwo\n```\n', "page.md prints something else"),
        ("```bash\nexit 3\n```\n", "ended with 3"),
        ("`kept.py`:\n\n```py\nx = 1\n```\n\n```python\nimport kept\n```\n", "No module named 'kept'"),
    ],
)
def test_a_page_that_shows_what_does_not_happen_is_refused(tmp_path: Path, page: str, said: str) -> None:
    (tmp_path / "page.md").write_text(page)
    done = check("http://127.0.0.1:1", tmp_path / "page.md")
    assert done.returncode == 1
    assert said in done.stdout + done.stderr
    assert (tmp_path / "page.md").read_text() == page
