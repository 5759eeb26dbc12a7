"""The generated reference pages are what the code says; links, paths and modules that a page names exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

LINK = re.compile(r"\]\((?!https?:)(?P<file>[^)#]*)(?:#(?P<anchor>[^)]*))?\)")
PATH = re.compile(r"`(?P<path>[\w.-]+/[\w./-]*)`")
MODULE = re.compile(r"\becom_rlve((?:\.[a-z_]+)+)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
PAGES = (
    "README.md",
    "docs/agents.md",
    "docs/architecture.md",
    "docs/bank.md",
    "docs/board.md",
    "docs/cart.md",
    "docs/catalog.md",
    "docs/curriculum.md",
    "docs/environments.md",
    "docs/errors.md",
    "docs/frames.md",
    "docs/judging.md",
    "docs/learning.md",
    "docs/openenv.md",
    "docs/protocol.md",
    "docs/scale.md",
    "docs/settings.md",
    "docs/simulator.md",
    "docs/soundness.md",
    "docs/tools.md",
    "docs/trainers.md",
)


def test_generated_pages_are_what_the_code_says(root: Path) -> None:
    command = [sys.executable, str(root / "pages/generate.py"), "--check"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_page_is_listed(root: Path) -> None:
    assert {f"docs/{path.name}" for path in (root / "docs").glob("*.md")} | {"README.md"} == set(PAGES)


def test_pages_hold_what_is_looked_for(root: Path) -> None:
    texts = [(root / page).read_text() for page in PAGES]
    for pattern in (LINK, PATH, MODULE):
        assert sum(bool(pattern.search(text)) for text in texts) >= 5


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(root: Path, page: str) -> None:
    dead = []
    for link in LINK.finditer((root / page).read_text()):
        target = (root / page).parent / link["file"] if link["file"] else root / page
        headings = HEADING.findall(target.read_text()) if target.is_file() else []
        anchors = {re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-") for text in headings}
        if not target.is_file() or (link["anchor"] and link["anchor"] not in anchors):
            dead.append(link[0])
    assert dead == []


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_names_exists(root: Path, page: str, package_files: dict[str, Path]) -> None:
    """Paths are those below a folder of the repository; a module may be followed by a name in it."""
    text = (root / page).read_text()
    paths = [match["path"] for match in PATH.finditer(text)]
    assert [path for path in paths if (root / path.split("/")[0]).is_dir() and not (root / path).exists()] == []
    dotted = {name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in package_files}
    assert "envs.registry" in dotted
    modules = [match[1].strip(".") for match in MODULE.finditer(text)]
    assert [name for name in modules if not {name, name.rpartition(".")[0]} & dotted] == []
