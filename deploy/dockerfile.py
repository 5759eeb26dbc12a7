"""A Dockerfile read as its instructions, as far as ours goes: one stage, no heredocs."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

_CONTINUED = re.compile(r"\\\n(?:\s*#.*\n)*")
_HEALTHCHECK = re.compile(r"\bCMD\s+(?P<command>\[.*\])", re.DOTALL)
_TOLD_ONLY = {"FROM", "LABEL", "EXPOSE", "STOPSIGNAL", "ARG"}
"""Instructions that change no file and start nothing."""


class DockerfileError(Exception):
    """The file has an instruction that is not known here."""


@dataclass
class Image:
    """What the instructions ask for; commands and copies in their order."""

    base: str = ""
    steps: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    """``RUN`` and ``COPY``: the kind, its text, and the variables at that place, ``PWD`` among them."""
    variables: dict[str, str] = field(default_factory=dict)
    workdir: str = "/"
    user: str = "0:0"
    healthcheck: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)


def instructions(text: str) -> Iterator[tuple[str, str]]:
    r"""Yield each instruction and its arguments, without comments and with continued lines joined.

    >>> list(instructions("# why\nENV A=1 \\\n    B=2\nuser 5\n"))
    [('ENV', 'A=1      B=2'), ('USER', '5')]
    """
    lines = (line for line in text.splitlines(keepends=True) if not line.lstrip().startswith("#"))
    for line in _CONTINUED.sub(" ", "".join(lines)).splitlines():
        if line.strip():
            word, _, rest = line.strip().partition(" ")
            yield word.upper(), rest.strip()


def read(text: str) -> Image:
    """Return what a Dockerfile asks for.

    Raises:
        DockerfileError: it holds an instruction that is not known here, or a command that is no JSON list.
    """
    image = Image()
    for word, rest in instructions(text):
        if word in ("RUN", "COPY"):
            image.steps.append((word, rest, {**image.variables, "PWD": image.workdir}))
        elif word == "ENV":
            image.variables |= dict(pair.split("=", 1) for pair in shlex.split(rest))
        elif word == "WORKDIR":
            image.workdir = rest
        elif word == "USER":
            image.user = rest
        elif word == "CMD":
            image.command = _listed(rest)
        elif word == "HEALTHCHECK":
            match = _HEALTHCHECK.search(rest)
            image.healthcheck = _listed(match["command"] if match else rest)
        elif word not in _TOLD_ONLY:
            raise DockerfileError(f"{word} is not known here; teach it to deploy/dockerfile.py")
        image.base = rest if word == "FROM" else image.base
    return image


def context(root: Path) -> Iterator[Path]:
    """Yield the files that a build is given: no link, and nothing that ``.dockerignore`` leaves out."""
    lines = (root / ".dockerignore").read_text().splitlines()
    ignored = [line.strip().rstrip("/") for line in lines if line.strip() and not line.startswith("#")]
    waiting = [root]
    while waiting:
        for path in sorted(waiting.pop().iterdir()):
            if path.is_symlink() or is_ignored(path.relative_to(root).as_posix(), ignored):
                continue
            if path.is_dir():
                waiting.append(path)
            else:
                yield path


def is_ignored(path: str, patterns: list[str]) -> bool:
    """Tell whether one of the patterns leaves a path out. A pattern counts from the root, ``**/`` at any depth.

    >>> [is_ignored(path, ["docs", "**/__pycache__", "*.egg-info"]) for path in ("docs", "a/docs", "a/b/__pycache__")]
    [True, False, True]
    """
    name = path.rpartition("/")[2]
    for pattern in patterns:
        if pattern.startswith("**/"):
            if fnmatch(name, pattern[3:]):
                return True
        elif path.count("/") == pattern.count("/") and fnmatch(path, pattern):
            return True
    return False


def _listed(text: str) -> list[str]:
    try:
        listed = json.loads(text)
    except ValueError:
        listed = None
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise DockerfileError(f"a JSON list of words is wanted, so that no shell stands before the server: {text}")
    return listed
