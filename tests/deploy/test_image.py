"""The Dockerfile as it is read, and its steps played without an engine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

WORDS = st.from_regex(r"[a-z/.=-]{1,12}", fullmatch=True)


def test_our_own_file_is_read_whole(dockerfile_reader: ModuleType, deploy: Path) -> None:
    image = dockerfile_reader.read((deploy.parent / "Dockerfile").read_text())
    assert image.base.startswith("python:3.11")
    assert (image.user, image.workdir, image.command) == ("65532:65532", "/app/env", ["server"])
    assert [kind for kind, _, _ in image.steps] == ["COPY", "RUN", "RUN", "RUN"]
    assert image.healthcheck[:2] == ["python", "-c"]
    assert image.variables["PORT"] == "8000"
    assert all(variables["PWD"] == "/app/env" for _, _, variables in image.steps)


def test_what_is_not_known_is_refused(dockerfile_reader: ModuleType) -> None:
    for text in ("VOLUME /x", "CMD server", 'CMD ["a", 1]'):
        with pytest.raises(dockerfile_reader.DockerfileError):
            dockerfile_reader.read(text)


@given(lines=st.lists(st.lists(WORDS, min_size=1, max_size=4), max_size=5))
def test_instructions_survive_breaks_and_comments(dockerfile_reader: ModuleType, lines: list[list[str]]) -> None:
    text = "".join("# why\nRUN " + " \\\n  # inside\n  ".join(words) + "\n\n" for words in lines)
    told = [(word, rest.split()) for word, rest in dockerfile_reader.instructions(text)]
    assert told == [("RUN", words) for words in lines]


def test_a_build_is_given_the_package_and_nothing_beside_it(dockerfile_reader: ModuleType, deploy: Path) -> None:
    root = deploy.parent
    given_ = {path.relative_to(root).as_posix() for path in dockerfile_reader.context(root)}
    assert {"pyproject.toml", "README.md", "server/app.py", "server/web/static/icon.svg"} <= given_
    assert not {path for path in given_ if path.split("/")[0] in ("tests", "docs", "pages", "deploy", ".venv", ".git")}
    assert not {path for path in given_ if "__pycache__" in path}


@pytest.mark.slow
def test_the_image_serves_as_another_user_from_a_read_only_tree_without_a_network(deploy: Path) -> None:
    """It starts within the 30 s that the script allows, answers ``/health`` and shows the page."""
    done = subprocess.run([sys.executable, str(deploy / "replay_image.py")], capture_output=True, text=True)
    if done.returncode == 2:
        pytest.skip(f"THE IMAGE WAS NOT TRIED: {done.stdout.strip()}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "healthy after" in done.stdout
    assert "page after" in done.stdout
