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
    "docs/api/adapters.md",
    "docs/api/client.md",
    "docs/api/environments.md",
    "docs/api/models.md",
    "docs/agents.md",
    "docs/architecture.md",
    "docs/bank.md",
    "docs/board.md",
    "docs/cart.md",
    "docs/catalog.md",
    "docs/comparison.md",
    "docs/curriculum.md",
    "docs/environments.md",
    "docs/errors.md",
    "docs/frames.md",
    "docs/index.md",
    "docs/judging.md",
    "docs/learning.md",
    "docs/openenv.md",
    "docs/operations.md",
    "docs/page.md",
    "docs/protocol.md",
    "docs/scale.md",
    "docs/security.md",
    "docs/settings.md",
    "docs/simulator.md",
    "docs/soundness.md",
    "docs/tools.md",
    "docs/trainers.md",
    "docs/tutorials/first_episode.md",
    "docs/tutorials/judging_a_model.md",
    "docs/tutorials/ninth_environment.md",
    "docs/tutorials/own_catalog.md",
    "docs/tutorials/reading_a_reward.md",
    "docs/tutorials/training_with_trl.md",
)


def test_generated_pages_are_what_the_code_says(root: Path) -> None:
    command = [sys.executable, str(root / "pages/generate.py"), "--check"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_page_is_listed(root: Path) -> None:
    pages = {path.relative_to(root).as_posix() for path in (root / "docs").rglob("*.md")}
    assert pages | {"README.md"} == set(PAGES)


def test_the_site_and_its_first_page_list_every_page(root: Path) -> None:
    """Every page has a place in the navigation, and a link on the first page."""
    pages = {page.removeprefix("docs/") for page in PAGES if page.startswith("docs/")}
    navigation = (root / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    assert set(re.findall(r": (\S+\.md)$", navigation, re.MULTILINE)) == pages
    assert {match["file"] for match in LINK.finditer((root / "docs/index.md").read_text())} == pages - {"index.md"}


def test_a_site_that_leads_nowhere_or_loads_from_elsewhere_is_refused(root: Path, tmp_path: Path) -> None:
    page = '<link rel="stylesheet" href="own.css"><h1 id="top">A</h1><a href="#top"></a><a href="b.html#there"></a>'
    (tmp_path / "a.html").write_text(page)
    (tmp_path / "b.html").write_text('<p id="there">B</p><a href="https://example.org/"></a>')
    (tmp_path / "own.css").write_text("p { color: black }")
    command = [sys.executable, str(root / "pages/check_site.py"), str(tmp_path)]
    assert subprocess.run(command, capture_output=True).returncode == 0
    (tmp_path / "b.html").write_text('<a href="c.html"></a><script src="https://example.org/x.js"></script>')
    (tmp_path / "own.css").write_text("@import url(//example.org/x.css)")
    said = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    assert [line.rpartition("/")[2] for line in said[:2]] == [
        "a.html: leads nowhere: b.html#there",
        "b.html: leads nowhere: c.html",
    ]
    assert [line.partition(": ")[2] for line in said[2:]] == [
        "loads https://example.org/x.js",
        "loads from another host",
    ]


def test_pages_hold_what_is_looked_for(root: Path) -> None:
    texts = [(root / page).read_text() for page in PAGES]
    for pattern in (LINK, PATH, MODULE):
        assert sum(bool(pattern.search(text)) for text in texts) >= 5


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(root: Path, page: str) -> None:
    dead = []
    for link in LINK.finditer((root / page).read_text()):
        target = (root / page).parent / link["file"] if link["file"] else root / page
        headings = HEADING.findall(target.read_text()) if target.suffix == ".md" and target.is_file() else []
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
