"""The examples in docstrings print what they show, in the package and in the programs that write the pages."""

from __future__ import annotations

import doctest
import inspect
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from ecom_rlve.client.client import DEFAULT_URL, EcomEnv

ROOT = Path(__file__).parents[2]
PROMPT = ">>> "
BESIDE = ("pages", "deploy")
"""Folders of programs beside the package, which import each other by plain names."""


def with_examples() -> list[Path]:
    """Return the modules in which a prompt stands; no other is imported, for some need an extra."""
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    folders = [ROOT.joinpath(*name.split(".")[1:]) for name in packages] + [ROOT / each for each in BESIDE]
    files = (path for folder in folders for path in sorted(folder.glob("*.py")))
    return [path for path in files if PROMPT in path.read_text()]


@pytest.mark.parametrize("path", with_examples(), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_examples_print_what_they_show(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = path.relative_to(ROOT).with_suffix("").parts
    for folder in BESIDE:
        monkeypatch.syspath_prepend(ROOT / folder)
    module = import_module(parts[1] if parts[0] in BESIDE else ".".join(("ecom_rlve", *parts)))
    assert doctest.testmod(module).failed == 0


def test_the_client_s_example_plays_an_episode(live_url: str) -> None:
    """It is skipped above, where no server runs."""
    text = inspect.cleandoc(EcomEnv.__doc__ or "").replace(DEFAULT_URL, live_url).replace("# doctest: +SKIP", "")
    names = {"EcomEnv": EcomEnv, "policy": lambda _: {"answer": {"done": True}}}
    example = doctest.DocTestParser().get_doctest(text, names, "EcomEnv", None, 0)
    assert doctest.DocTestRunner().run(example, clear_globs=False) == (0, 1)
    assert example.globs["result"].done
