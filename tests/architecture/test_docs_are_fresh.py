"""The generated reference pages are what the code says, and every link of a page leads somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

LINK = re.compile(r"\]\((?!https?:)(?P<file>[^)#]*)(?:#(?P<anchor>[^)]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
PAGES = (
    "README.md",
    "docs/agents.md",
    "docs/cart.md",
    "docs/catalog.md",
    "docs/environments.md",
    "docs/errors.md",
    "docs/protocol.md",
    "docs/scale.md",
    "docs/settings.md",
    "docs/simulator.md",
    "docs/tools.md",
)


def test_generated_pages_are_what_the_code_says(root: Path) -> None:
    command = [sys.executable, str(root / "pages/generate.py"), "--check"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_page_is_listed(root: Path) -> None:
    assert {f"docs/{path.name}" for path in (root / "docs").glob("*.md")} | {"README.md"} == set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(root: Path, page: str) -> None:
    for link in LINK.finditer((root / page).read_text()):
        target = (root / page).parent / link["file"] if link["file"] else root / page
        assert target.is_file(), link[0]
        if link["anchor"]:
            headings = HEADING.findall(target.read_text())
            assert link["anchor"] in {re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-") for text in headings}, (
                link[0]
            )
