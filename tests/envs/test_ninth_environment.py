"""A new environment is one package in the folder of tasks: server, client and evaluation know no task by name."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from ecom_rlve import AsyncEcomEnv
from ecom_rlve.envs import registry, tasks
from ecom_rlve.envs.contract.check import EnvironmentFaultError, check_environment
from ecom_rlve.envs.difficulty import axes_of
from ecom_rlve.envs.environment import Environment
from ecom_rlve.envs.language.frames import Frames
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.oracle import Oracle
from ecom_rlve.evaluation.runner import Job, play_all

if TYPE_CHECKING:
    from fastapi import FastAPI

FOLDER = Path(__file__).parent / "ninth"
ROOT = Path(__file__).parents[2]
NAME = "LOOKUP"


@pytest.fixture
def ninth(monkeypatch: pytest.MonkeyPatch) -> Iterator[Environment]:
    """Put the package beside the eight, as its author would."""
    monkeypatch.setattr(tasks, "__path__", [*tasks.__path__, str(FOLDER)])
    _forget()
    yield registry.environment(NAME)
    monkeypatch.undo()
    _forget()
    for name in [name for name in sys.modules if name.startswith("ecom_rlve.envs.tasks.lookup")]:
        del sys.modules[name]


def _forget() -> None:
    registry.environments.cache_clear()
    registry.environment.cache_clear()


def test_it_is_found_and_gone_again(ninth: Environment) -> None:
    assert set(registry.environments()) == {*registry.COLLECTIONS["C8"], NAME}
    assert registry.environment("e_lookup") is ninth
    assert {registry.choose_environment(None, seed) for seed in range(200)} == set(registry.environments())


def test_it_keeps_the_contract_and_so_does_the_journey_beside_it(ninth: Environment, shop: Shop) -> None:
    check_environment(ninth, shop)
    check_environment(registry.environment("JOURNEY"), shop, seeds=1)


def test_a_module_without_an_environment_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "just_a_helper").mkdir()
    (tmp_path / "just_a_helper/__init__.py").write_text("")
    (tmp_path / "just_a_helper/environment.py").write_text("X = 1\n")
    monkeypatch.setattr(tasks, "__path__", [*tasks.__path__, str(tmp_path)])
    _forget()
    with pytest.raises(TypeError, match=r"just_a_helper\.environment must export its environment as ENVIRONMENT"):
        registry.environments()
    monkeypatch.undo()
    _forget()
    for name in ("just_a_helper", "just_a_helper.environment"):
        sys.modules.pop(f"ecom_rlve.envs.tasks.{name}")


def test_the_real_app_serves_it_in_process(ninth: Environment, live_app: FastAPI) -> None:
    from ecom_rlve.server.app import create_app

    service = live_app.state.service
    app = create_app(service.settings, shop=service._shop)

    async def play() -> None:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://app") as http:
            listed = {each["env_id"]: each for each in (await http.get("/envs")).json()}
            assert listed[NAME]["tools"] == list(ninth.about.tool_names)
            assert listed[NAME]["answer_schema"] == ninth.about.answer_schema
            assert (await http.get("/envs/lookup/schema")).is_success
        for style in ("turn", "tool"):
            async with AsyncEcomEnv("http://app", env="lookup", transport=transport) as env:
                agent = Oracle(service._shop)
                step = await env.reset(seed=4, difficulty=6, style=style)
                assert step.metadata.env_id == NAME
                assert '"figure"' in step.text
                while not step.done:
                    step = await env.step(agent.act(step))
                assert step.observation.result is not None
                assert step.observation.result.is_correct

    asyncio.run(play())


def test_the_runner_plays_it_over_a_socket(ninth: Environment, live_app: FastAPI, live_url: str) -> None:
    shop = live_app.state.service._shop
    jobs = [Job("oracle", lambda: Oracle(shop), ninth.about.id, d, seed) for d in (0, 9) for seed in range(4)]
    assert [record.result.r_task for record in play_all(live_url, jobs)] == [1.0] * len(jobs)


def _broken(environment: Environment, **parts: Any) -> Environment:
    """Return a kind of the environment with parts replaced."""
    broken: Environment = type("Broken", (type(environment),), parts)()
    return broken


def _wrap(method: str, change: Callable[[Any, Any], Any]) -> Callable[[Environment], Environment]:
    """Return what makes an environment whose method returns ``change(intent, its result)``."""

    def made(environment: Environment) -> Environment:
        def replaced(_self: Any, first: Any, *rest: Any) -> Any:
            return change(first, getattr(environment, method)(first, *rest))

        return _broken(environment, **{method: replaced})

    return made


def _places(intent: Any, act: Any, words: str) -> Any:
    """Return the opening with words after the title."""
    told = words.format(asked=intent.goal.asked, id=intent.world.shop.catalog.ids[intent.goal.row])
    opening = 'About "{title}": ' + told + "."
    return replace(act, frames=Frames("test", "Says more.", ("title",), (), {"any": (opening,)}))


def _opens(words: str) -> Callable[[Environment], Environment]:
    """Return what makes an environment whose customer opens with words after the title."""

    def made(environment: Environment) -> Environment:
        def draw(_self: Any, world: Any, streams: Any) -> Any:
            scenario = environment.draw(world, streams)
            (intent,) = scenario.intents
            honest = intent.opening
            assert honest is not None
            intent.opening = lambda intent, said: _places(intent, honest(intent, said), words)
            return scenario

        return _broken(environment, draw=draw)

    return made


def _moody(_scenario: Any, action: Any) -> Any:
    """Return the action with words that no seed draws."""
    calls.append(1)
    return {**action, "assistant_message": "Anything else?"} if len(calls) % 5 == 0 else action


calls: list[int] = []

FAULTS: dict[str, tuple[Callable[[Environment], Environment], str]] = {
    "no version": (lambda each: _broken(each, about=replace(each.about, version=" ")), "version must be a word"),
    "unknown tool": (
        lambda each: _broken(each, about=replace(each.about, tool_names=("search",))),
        "no tool .'search'",
    ),
    "unknown axis": (
        lambda each: _broken(each, about=replace(each.about, axes=("t_max", "speed"))),
        "no axis .'speed'",
    ),
    "a likely guess": (
        lambda each: _broken(each, about=replace(each.about, candidates=lambda _: 11)),
        "a blind pick is right with probability 0.091",
    ),
    "no brief at the top": (
        lambda each: _broken(each, brief=lambda _, axes: "" if axes == axes_of(20) else each.brief(axes)),
        "d=20: the brief says nothing",
    ),
    "never right": (_wrap("verify", lambda _, v: replace(v, correct=False)), "solve is not correct"),
    "nearly one": (_wrap("verify", lambda _, v: replace(v, r_task=Fraction(99, 100))), "scores 0.99, not 1"),
    "a float": (_wrap("verify", lambda _, v: replace(v, r_task=1.0)), "not exactly Fraction"),
    "always right": (
        _wrap("verify", lambda _, v: replace(v, r_task=Fraction(1), correct=True, output_ids=())),
        "is correct, though nothing was done",
    ),
    "unseen ids": (_wrap("verify", lambda _, v: replace(v, output_ids=("B0NEVER",))), "is not correct"),
    "leak": (_opens("the {asked}"), "is told unasked"),
    "id": (_opens("it is {id}"), "says the id"),
    "debris": (_opens("None of it"), "says 'None'"),
    "idle": (_wrap("solve", lambda _scenario, _action: {"tool_calls": []}), "is not correct|come to an end"),
    "overstated": (lambda each: _broken(each, max_difficulty=lambda _self, _shop: 21), "must lie in"),
    "none served": (lambda each: _broken(each, max_difficulty=lambda _self, _shop: -1), "serve no difficulty"),
    "moody": (_wrap("solve", _moody), "differs when repeated|another number of steps"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_checker_finds_every_fault(ninth: Environment, shop: Shop, name: str) -> None:
    make, message = FAULTS[name]
    calls.clear()
    with pytest.raises(EnvironmentFaultError, match=message):
        check_environment(make(ninth), shop, seeds=2)


def test_a_read_that_writes_is_found(ninth: Environment, shop: Shop) -> None:
    from ecom_rlve.envs.tools.registry import TOOLS

    honest = TOOLS["catalog_get_product"]

    def sells(world: Any, args: Any) -> dict[str, Any]:
        world.sold_out.add(world.row_of(args.product_id))
        return honest.run(world, args)

    about = replace(ninth.about)
    about.__dict__["tools"] = {**ninth.about.tools, honest.name: replace(honest, run=sells)}
    with pytest.raises(EnvironmentFaultError, match="reads, yet it changed the world"):
        check_environment(_broken(ninth, about=about), shop, seeds=1)


def test_an_exception_of_verify_is_named_with_the_answer(ninth: Environment, shop: Shop) -> None:
    def verify(_self: Any, intent: Any, answer: Any) -> Any:
        if answer is not None and answer.figure is not None and answer.figure < 0:
            raise ArithmeticError("no square root")
        honest: Any = ninth
        return honest.verify(intent, answer)

    with pytest.raises(EnvironmentFaultError, match="raises ArithmeticError"):
        check_environment(_broken(ninth, verify=verify), shop, seeds=1)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the repository in which the package lies where its author would put it.

    What else an author does: list the package in ``pyproject.toml``, and write the reference pages again.
    """
    copied = tmp_path_factory.mktemp("ninth") / "ecom_rlve"
    ignored = [line.rstrip("/") for line in (ROOT / ".gitignore").read_text().split()]
    shutil.copytree(ROOT, copied, ignore=shutil.ignore_patterns(".git", *ignored))
    shutil.copytree(FOLDER / "lookup", copied / "envs/tasks/lookup", ignore=shutil.ignore_patterns("__pycache__"))
    project, beside = copied / "pyproject.toml", '    "ecom_rlve.envs.tasks.journey",\n'
    listed = project.read_text()
    data = '"ecom_rlve.envs.tasks.bundle" = ["*.toml"]\n'
    assert beside in listed
    assert data in listed
    for line in (beside, data):
        listed = listed.replace(line, line + re.sub("journey|bundle", "lookup", line))
    project.write_text(listed)
    in_copy(copied, "pages/generate.py")
    return copied


def in_copy(copied: Path, *arguments: str) -> str:
    """Run Python in a copy of the repository, which it imports instead of what is installed; return what it printed."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=copied,
        env={**os.environ, "PYTHONPATH": str(copied.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-20_000:]
    return done.stdout


def fast_tier() -> str:
    """Return the expression that selects the tests of the fast suite: those of no tier that has a mark."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    return " and ".join(f"not {mark.partition(':')[0]}" for mark in settings["markers"])


@pytest.mark.slow
def test_a_copy_with_the_package_in_place_passes_the_whole_fast_suite(copy: Path) -> None:
    said = in_copy(copy, "-P", "-c", "import ecom_rlve; print(ecom_rlve.__file__)")
    assert said.strip() == str(copy / "__init__.py")
    said = in_copy(copy, "-P", "-m", "pytest", "-q", "-m", fast_tier(), "-n", "2", "--dist", "worksteal")
    assert " passed" in said
    assert NAME in in_copy(copy, "-P", "-m", "pytest", "-q", "--collect-only", "tests/envs/test_every_environment.py")


@pytest.mark.slow
def test_in_the_copy_the_soundness_table_has_it_too(copy: Path) -> None:
    arguments = ("--env", "all", "--episodes", "4", "--difficulties", "0,6", "--catalog", "synthetic:2000:0")
    said = in_copy(copy, "-P", "-m", "ecom_rlve.evaluation.soundness", *arguments)
    assert f"{NAME}: sound" in said
    assert f"| {NAME}, d=0, 6 | 1.000 | none | 1.000 |" in said


@pytest.mark.slow
def test_in_the_copy_an_episode_of_it_can_be_watched(copy: Path) -> None:
    said = in_copy(copy, "-P", "-m", "ecom_rlve.cli", "demo", "--env", NAME)
    assert f"{NAME}, difficulty 2, seed 10, agent: oracle" in said
    assert re.search(r"is_correct\W+yes", said)
