"""What the server adds to a bare FastAPI application: both run, and answer the same load in turns."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from ecom_rlve.evaluation.bench.load import Load, Transport, Work
from ecom_rlve.evaluation.bench.plan import Plan
from ecom_rlve.evaluation.local_server import server_process

TRANSPORTS: tuple[Transport, ...] = ("http", "ws")
_ECHO_ARGUMENTS = (
    *("--factory", "ecom_rlve.evaluation.bench.echo_app:create_app", "--no-access-log", "--log-level", "warning"),
    # As our server does it.
    *("--no-server-header", "--ws-per-message-deflate", "false"),
)


@dataclass(frozen=True, slots=True)
class Server:
    """A running server."""

    url: str
    pid: int

    def load(self, transport: Transport, work: Work, clients: int, seconds: float, body: str = "") -> Load:
        """Measure it with a worker in a process of its own."""
        options = {
            "url": self.url,
            "pid": self.pid,
            "transport": transport,
            "work": work,
            "clients": clients,
            "seconds": seconds,
            "body": body,
        }
        arguments = [f"--{name}={value}" for name, value in options.items()]
        command = [sys.executable, "-P", "-m", "ecom_rlve.evaluation.bench.load", *arguments]
        printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        return Load(**json.loads(printed))


@dataclass(frozen=True, slots=True)
class Pair:
    """Our server's steps and the bare application's echoes, measured one right after the other."""

    ours: Load
    bare: Load

    @property
    def share(self) -> float:
        """Our steps/s as a share of the bare application's answers/s."""
        return self.ours.rate / self.bare.rate

    @property
    def cpu_share(self) -> float | None:
        """The bare application's CPU time for an answer as a share of ours; a slow client cannot change it."""
        if not self.ours.server_cpu_us or not self.bare.server_cpu_us:
            return None
        return self.bare.server_cpu_us / self.ours.server_cpu_us


@dataclass(frozen=True, slots=True)
class Comparison:
    """All measurements of one catalog, transport and number of clients."""

    products: int
    transport: Transport
    clients: int
    pairs: tuple[Pair, ...]
    episodes: Load

    @property
    def share(self) -> float:
        """Median of the pairs' shares."""
        return median(pair.share for pair in self.pairs)

    def middle(self, figure: Callable[[Pair], float | None]) -> float | None:
        """Return the median of a figure over the pairs; None where it is not known."""
        known = [value for value in map(figure, self.pairs) if value is not None]
        return median(known) if known else None


@contextmanager
def bare_server() -> Iterator[Server]:
    """Run the bare application."""
    with server_process("uvicorn", *_ECHO_ARGUMENTS) as (url, pid):
        yield Server(url, pid)


@contextmanager
def our_server(products: int, store: Path | None = None) -> Iterator[Server]:
    """Run the server on a procedural catalog; without ``store`` it keeps nothing."""
    variables = None if store is None else {"ECOM_RLVE_STORE": str(store)}
    serving = ("serve", "--catalog", f"synthetic:{products}:0")
    with server_process("ecom_rlve.cli", *serving, variables=variables) as (url, pid):
        yield Server(url, pid)


def compare(products: int, ours: Server, bare: Server, transport: Transport, clients: int, plan: Plan) -> Comparison:
    """Measure steps in turns with echoes of the same answer, then whole episodes."""
    pairs = []
    for _ in range(plan.pairs if products == plan.main_size else 1):
        steps = ours.load(transport, "view", clients, plan.seconds)
        pairs.append(Pair(steps, bare.load(transport, "echo", clients, plan.seconds, body=steps.sample)))
    episodes = ours.load(transport, "episode", clients, plan.seconds)
    return Comparison(products, transport, clients, tuple(pairs), episodes)


@dataclass(frozen=True, slots=True)
class JournalPair:
    """The same load on both, one right after the other."""

    kept: Load
    """With a journal."""
    forgotten: Load

    @property
    def share(self) -> float:
        """Steps/s with a journal as a share of those without."""
        return self.kept.rate / self.forgotten.rate


def journal_pairs(plan: Plan) -> list[JournalPair]:
    """Measure both servers in turns, at the main size and with all clients."""
    pairs = []
    with (
        tempfile.TemporaryDirectory() as folder,
        our_server(plan.main_size, store=Path(folder) / "store.sqlite3") as keeps,
        our_server(plan.main_size) as forgets,
    ):
        for _ in range(plan.pairs):
            kept = keeps.load("http", "view", plan.clients, plan.seconds)
            pairs.append(JournalPair(kept, forgets.load("http", "view", plan.clients, plan.seconds)))
    return pairs


def journal_line(pairs: list[JournalPair]) -> str:
    """Return what was measured."""
    kept, forgotten = (_told([getattr(each, name) for each in pairs]) for name in ("kept", "forgotten"))
    share = median(each.share for each in pairs)
    return f"HTTP with the journal: {kept}; without: {forgotten}; the journal leaves {share:.2f} of the steps/s"


def _told(loads: list[Load]) -> str:
    rate, p50, p99 = (median(getattr(each, name) for each in loads) for name in ("rate", "p50_ms", "p99_ms"))
    return f"{rate:,.0f} cart_view steps/s, p50 {p50:.1f} ms, p99 {p99:.1f} ms"
