"""Who may import whom, and what no module of the package may do."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

PACKAGE = "ecom_rlve"
MAX_LINES = 400
MAX_MODULES = 12
"""Modules in a folder, beside its ``__init__``: what one takes in at a glance."""

SHARED = {"codes", "constraint_words", "models", "reward_words", "run_models", "said_models", "streams"}
"""Serve every layer and import nothing of ours but each other."""

ALLOWED: dict[str, set[str]] = {
    "codes": set(),
    "constraint_words": set(),
    "models": {"codes", "said_models"},
    "reward_words": {"models"},
    "run_models": {"models"},
    "said_models": set(),
    "streams": set(),
    "catalog": {"catalog", "root"} | SHARED,
    "envs": {"envs", "catalog", "root"} | SHARED,
    "server": {"server", "envs", "catalog", "root"} | SHARED,
    "client": {"client", "codes", "models", "run_models"},
    "evaluation": {"evaluation", "client", "root"} | SHARED,
    "training": {"training", "evaluation", "client", "root"} | SHARED,
    "root": {"client"},
    "commands": {"commands", "catalog", "envs", "client", "evaluation", "root"} | SHARED,
    "cli": {"cli", "commands", "catalog", "envs", "server", "client", "evaluation", "training", "root"} | SHARED,
}
"""Layer -> layers it may import; ``root`` is the package's own ``__init__`` (its version).

Evaluation and training start a server as a subprocess; they never import one.
"""

EXCEPTIONS: dict[str, tuple[set[str], str]] = {
    "server/web/watch/episodes.py": (
        {"client", "evaluation"},
        "visitors watch the built-in agents, which play in the server's process and read what its client would",
    ),
    "server/web/watch/connected.py": (
        {"client", "evaluation"},
        "visitors watch a chat model, which plays by the code that judges one",
    ),
    "evaluation/oracle.py": (
        {"envs", "catalog"},
        "recomputes the goal from the episode's spec, so that the server never has to give one out",
    ),
    "evaluation/customer/train_hearing.py": ({"envs"}, "makes the weights with the features that read them"),
    "evaluation/customer/train_check.py": ({"envs"}, "makes the weights with the features that read them"),
    "evaluation/customer/hearing.py": ({"envs"}, "asks in process, and looks at what the customer has told"),
    "evaluation/customer/growing.py": ({"envs"}, "checks proposed frames by the rules for files of frames"),
    "evaluation/customer/variety.py": ({"envs"}, "takes the values of acts out of what customers say"),
    "evaluation/customer/check.py": ({"envs"}, "asks the check itself about wordings that no episode holds"),
    "evaluation/exploits/attacks.py": ({"envs"}, "plays in process, and looks at what sells out"),
    "evaluation/exploits/__main__.py": ({"envs"}, "plays tens of thousands of episodes in process"),
    "evaluation/bench/each_environment.py": (
        {"envs", "server"},
        "measures every environment in a process like a server's",
    ),
    "evaluation/in_process.py": ({"envs"}, "plays without a server"),
    "evaluation/judging/replaying.py": ({"envs", "catalog"}, "plays recorded episodes again, on a catalog of its own"),
    "evaluation/judging/report/axes.py": (
        {"envs"},
        "the value of an axis at a difficulty is the environments' formula",
    ),
    "evaluation/climb.py": (
        {"envs"},
        "plays under a curriculum of its own: where a server discloses acts, episodes count for none",
    ),
    "training/mixed_groups.py": ({"envs"}, "plays in process: six thousand episodes for a table"),
    "evaluation/customer/audit.py": ({"envs"}, "plays in process with the voices that it compares"),
    "evaluation/bench/in_process.py": ({"envs", "server"}, "measures the episode itself, in a process like a server's"),
    "evaluation/bench/crowd/checking.py": ({"envs"}, "plays again what a server has played"),
    "evaluation/bench/crowd/__main__.py": ({"envs"}, "opens the shop that traces are played again on"),
    "evaluation/bench/soak/__main__.py": ({"envs"}, "opens the shop that traces are played again on"),
    "commands/journal.py": ({"server"}, "reads a server's own store, without the server"),
    "evaluation/bench/scale/raw_faiss.py": ({"catalog"}, "searches a catalog's own vectors with FAISS alone"),
    "evaluation/bench/scale/build.py": ({"catalog"}, "builds the catalog that is measured"),
    "evaluation/bench/scale/dirty.py": ({"catalog"}, "looks at what became of the rows of a catalog that it built"),
    "evaluation/bench/scale/dirty_rows.py": ({"catalog"}, "makes rows of words that the catalog knows"),
    "evaluation/bench/scale/worker.py": ({"envs", "server"}, "measures episodes, in a process like a server's worker"),
    "evaluation/relevance/judged.py": ({"catalog"}, "asks the search of catalogs that no server serves"),
    "evaluation/relevance/known_items.py": ({"envs", "catalog"}, "looks at what customers want, and searches for it"),
    "evaluation/relevance/__main__.py": ({"envs", "catalog"}, "opens the catalogs that are searched"),
    "training/learning/arena.py": ({"envs"}, "plays in process too, under the curriculum's own code"),
    "training/learning/experiments.py": ({"envs"}, "opens the shops to judge in"),
    "training/learning/runs.py": ({"envs"}, "judges held-out episodes in process"),
    "training/learning/skills/open_words.py": ({"envs"}, "reads words out of text by the bank's frames"),
    "training/learning/skills/returns.py": ({"envs"}, "reads facts out of text by the bank's frames"),
    "training/learning/skills/shelf.py": ({"envs"}, "reads facts out of text by the bank's frames"),
}
"""Module -> (further layers it may import, why)."""

COMES_WITH = {
    "art": "openpipe-art",
    "huggingface_hub": "datasets",
    "markupsafe": "jinja2",
    "openenv": "openenv",
    "pydantic_core": "pydantic",
    "sentence_transformers": "sentence-transformers",
    "starlette": "fastapi",
    "tokenizers": "transformers",
}
"""Module -> the declared distribution that ships and pins it; a pin of our own could only contradict that one.

That of ``openenv`` is named because the extra that brings it is not installed where this is checked.
"""

BANNED_MODULES = {"random", "secrets", "uuid"}
BANNED_CALLS = {
    "hash",
    "date.today",
    "datetime.now",
    "datetime.today",
    "datetime.utcnow",
    "os.urandom",
    "time.time",
    "time.time_ns",
}
NUMPY_RANDOM_TYPES = {"Generator"}
"""Names of numpy.random that may be used, as types only: streams.py alone makes generators."""


def layer(module_path: str) -> str:
    """Return the layer of a module given by its path relative to the root."""
    if module_path == "__init__.py":
        return "root"
    return module_path.split("/")[0].removesuffix(".py")


def dotted(node: ast.expr) -> str:
    """Return ``a.b.c`` for an attribute chain of names, else an empty string."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        head = dotted(node.value)
        return f"{head}.{node.attr}" if head else ""
    return ""


def imported(tree: ast.Module) -> Iterator[str]:
    """Yield every absolute module name that a module imports, also inside functions and by a literal name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module == PACKAGE:
            yield from (f"{PACKAGE}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module
        elif isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in {"import_module", "__import__"}:
            yield from (a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str))


def our_layers(tree: ast.Module) -> set[str]:
    """Return the layers of ours that a module imports; a name of the root that is no module counts as ``root``."""
    ours = (name.split(".") for name in imported(tree) if name.split(".")[0] == PACKAGE)
    return {parts[1] if len(parts) > 1 and parts[1] in ALLOWED else "root" for parts in ours}


def draws_outside_streams(tree: ast.Module) -> Iterator[str]:
    """Yield what in a module depends on anything else than its arguments and the named random streams."""
    yield from (name for name in imported(tree) if name.split(".")[0] in BANNED_MODULES)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "numpy.random":
            yield from (alias.name for alias in node.names if alias.name not in NUMPY_RANDOM_TYPES)
        elif isinstance(node, ast.ImportFrom) and node.module == "time":
            yield from (f"time.{alias.name}" for alias in node.names if f"time.{alias.name}" in BANNED_CALLS)
        elif isinstance(node, ast.Attribute) and dotted(node.value) in {"np.random", "numpy.random"}:
            if node.attr not in NUMPY_RANDOM_TYPES:
                yield dotted(node)
        elif isinstance(node, ast.Call):
            name = dotted(node.func)
            last_two = ".".join(name.split(".")[-2:])
            if name in BANNED_CALLS or last_two in BANNED_CALLS or last_two.split(".")[-1] in NUMPY_RANDOM_TYPES:
                yield name


def extra_names(extra: str, project: dict[str, Any]) -> set[str]:
    """Return the names of the distributions that an extra brings, also through other extras of ours."""
    names = set()
    for requirement in map(Requirement, project["optional-dependencies"][extra]):
        if requirement.name == project["name"]:
            names |= {name for further in requirement.extras for name in extra_names(further, project)}
        else:
            names.add(requirement.name.lower())
    return names


def named_after(module: str) -> str:
    """Return the distribution that a module which is not installed is taken to come from."""
    return module.replace("_", "-")


@pytest.fixture(scope="module")
def trees(package_files: dict[str, Path]) -> dict[str, ast.Module]:
    return {name: ast.parse(path.read_text(), name) for name, path in package_files.items()}


def test_every_module_belongs_to_a_known_layer(trees: dict[str, ast.Module]) -> None:
    assert {layer(name) for name in trees} <= ALLOWED.keys()
    assert {"catalog/columns/table.py", "codes.py", "models.py", "streams.py"} <= trees.keys()


def test_imports_point_one_way(trees: dict[str, ast.Module]) -> None:
    offences = {}
    for name, tree in trees.items():
        further, _ = EXCEPTIONS.get(name, (set(), ""))
        if surplus := our_layers(tree) - ALLOWED[layer(name)] - further:
            offences[name] = surplus
    assert not offences


def test_imports_are_absolute(trees: dict[str, ast.Module]) -> None:
    relative = {
        name
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level
    }
    assert not relative


def test_imports_of_others_are_declared(trees: dict[str, ast.Module], pyproject: dict[str, Any]) -> None:
    """A client module may use the base dependencies only; all others may use what the server's extras pin.

    An adapter may also use what the extra of its own name pins, which is installed in an environment of its own.
    """
    base = {Requirement(line).name.lower() for line in pyproject["project"]["dependencies"]}
    extras = ("server", "data", "openenv", "ray", "redis", "sentence", "trl", "web")
    everything = set().union(*(extra_names(extra, pyproject["project"]) for extra in extras))
    distributions = packages_distributions()
    offences = {}
    for name, tree in trees.items():
        declared = (
            base if layer(name) in {"client", "codes", "models", "run_models", "said_models", "root"} else everything
        )
        if (
            name.startswith("client/adapters/")
            and (extra := Path(name).stem) in pyproject["project"]["optional-dependencies"]
        ):
            declared = declared | extra_names(extra, pyproject["project"])
        foreign = {top for full in imported(tree) if (top := full.split(".")[0]) not in sys.stdlib_module_names}
        undeclared = {
            top
            for top in foreign - {PACKAGE, "__future__"}
            if not {COMES_WITH.get(top, ""), *map(str.lower, distributions.get(top, [top.replace("_", "-")]))}
            & declared
        }
        if undeclared:
            offences[name] = undeclared
    assert not offences


def test_catalog_and_envs_draw_from_streams_only(trees: dict[str, ast.Module]) -> None:
    offences = {
        name: found
        for name, tree in trees.items()
        if layer(name) in {"catalog", "envs"} and (found := list(draws_outside_streams(tree)))
    }
    assert not offences


def test_modules_are_short(package_files: dict[str, Path]) -> None:
    long = {
        name: lines
        for name, path in package_files.items()
        if (lines := len(path.read_text().splitlines())) >= MAX_LINES
    }
    assert not long


def test_every_package_says_what_it_is(trees: dict[str, ast.Module]) -> None:
    mute = [
        name
        for name, tree in trees.items()
        if name.endswith("__init__.py") and len(ast.get_docstring(tree) or "") < len("A word.")
    ]
    assert not mute


def test_packages_in_pyproject_are_the_folders(package_files: dict[str, Path], pyproject: dict[str, Any]) -> None:
    """A sub-package that is not listed vanishes from the wheel without a word."""
    folders = {name.rpartition("/")[0] for name in package_files}
    assert pyproject["tool"]["setuptools"]["packages"] == sorted(
        ".".join([PACKAGE, *filter(None, folder.split("/"))]) for folder in folders
    )
    assert all(f"{folder}/__init__.py".lstrip("/") in package_files for folder in folders)


def test_no_links_in_the_tree(tree: list[Path]) -> None:
    """`openenv validate` fails on any symbolic link."""
    assert Path(__file__) in tree
    assert not [path for path in tree if path.is_symlink()]


@pytest.mark.parametrize(
    "source",
    [
        "import random",
        "from random import choice",
        "import uuid",
        "x = hash('a')",
        "import datetime\nx = datetime.date.today()",
        "from datetime import datetime\nx = datetime.now()",
        "import time\nx = time.time()",
        "from time import time",
        "import numpy as np\nx = np.random.default_rng(3)",
        "import numpy\nnumpy.random.seed(3)",
        "from numpy.random import default_rng",
        "from numpy.random import Generator\nx = Generator(None)",
        "import numpy as np\nx = np.random.Generator(None)",
    ],
)
def test_the_check_sees_foreign_draws(source: str) -> None:
    assert list(draws_outside_streams(ast.parse(source)))


@pytest.mark.parametrize(
    "source",
    [
        "from numpy.random import Generator\ndef draw(rng: Generator) -> int: return int(rng.integers(3))",
        "from time import perf_counter\nx = perf_counter()",
        "from datetime import date\nx = date(2025, 1, 2)",
    ],
)
def test_the_check_lets_honest_code_pass(source: str) -> None:
    assert not list(draws_outside_streams(ast.parse(source)))


@pytest.mark.parametrize(
    ("source", "layers"),
    [
        ("from ecom_rlve.catalog.columns.table import Catalog", {"catalog"}),
        ("def f():\n    import ecom_rlve.envs.goal", {"envs"}),
        ("from ecom_rlve import __version__", {"root"}),
        ("from ecom_rlve import server", {"server"}),
        ("import importlib\nimportlib.import_module('ecom_rlve.server.app')", {"server"}),
        ("import json", set()),
    ],
)
def test_the_check_sees_imports(source: str, layers: set[str]) -> None:
    assert our_layers(ast.parse(source)) == layers


FLOORS = (
    ("envs/errors.py", "envs/difficulty.py", "envs/splits.py", "envs/curriculum", "envs/written_numbers.py"),
    ("envs/language",),
    ("envs/reading",),
    ("envs/goal.py", "envs/answer.py", "envs/policy"),
    ("envs/world",),
    ("envs/tools",),
    ("envs/about.py",),
    ("envs/errand.py",),
    ("envs/scenario.py",),
    ("envs/customer/hearing",),
    ("envs/customer",),
    ("envs/customer/check",),
    ("envs/customer/model",),
    ("envs/environment.py",),
    ("envs/parts",),
    ("envs/tasks",),
    ("envs/registry.py",),
    ("envs/episode",),
    ("envs/contract",),
)
"""The floors of ``envs`` from the ground up: a module imports from its own floor and from those below."""


def floor_of(path: str) -> int:
    """Return the floor of a module or package of ``envs``, given by its path relative to the root."""
    found = [
        (len(room), number)
        for number, rooms in enumerate(FLOORS)
        for room in rooms
        if path in (room, room.removesuffix(".py")) or path.startswith(f"{room}/")
    ]
    assert found, f"{path} stands on no floor: add it to FLOORS"
    return max(found)[1]


def test_imports_in_envs_point_down(trees: dict[str, ast.Module]) -> None:
    offences = [
        f"{name} imports {module}"
        for name, tree in trees.items()
        if name.startswith("envs/") and name != "envs/__init__.py"
        for module in imported(tree)
        if module.startswith(f"{PACKAGE}.envs.")
        and floor_of(module.removeprefix(f"{PACKAGE}.").replace(".", "/")) > floor_of(name)
    ]
    assert not offences


def test_folders_hold_few_modules(package_files: dict[str, Path]) -> None:
    counts = Counter(name.rpartition("/")[0] for name in package_files if not name.endswith("__init__.py"))
    assert counts["catalog"] >= 6
    assert {folder: count for folder, count in counts.items() if folder and count > MAX_MODULES} == {}


def test_no_circle_of_imports_even_in_types(trees: dict[str, ast.Module]) -> None:
    """Between modules, whatever an import is for: an import that only types need is an import."""
    graph = {name: set(_modules_imported(tree)) & trees.keys() for name, tree in trees.items()}
    assert graph["envs/registry.py"] >= {"envs/environment.py", "streams.py"}
    list(TopologicalSorter(graph).static_order())


def _modules_imported(tree: ast.Module) -> Iterator[str]:
    """Yield the files that imports may name, relative to the root: ``from a import b`` names a and its module b."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from (name.removeprefix(f"{PACKAGE}.").replace(".", "/") + ".py" for name in names if PACKAGE in name)
