"""How much is measured: the full run, and a short one that only shows that everything works."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plan:
    """Sizes, counts and durations of one run."""

    sizes: tuple[int, ...]
    """Products of the catalogs, ascending: resets are compared between the first and the last."""
    main_size: int
    """One of ``sizes``: the catalog on which episodes/s and the server's rates are judged."""
    served: tuple[int, ...]
    """Those of ``sizes`` that are also measured over the network, ``main_size`` among them."""
    rounds: int
    """Times that every in-process figure is taken; sizes take turns in each."""
    episodes: int
    """Episodes of each size and difficulty in a round."""
    each_sizes: tuple[int, ...]
    """Products of the catalogs on which every environment is measured, ascending; 1,000 are too few for SUB."""
    each_rounds: int
    each_episodes: int
    """Episodes of each environment and size in a round."""
    clients: int
    """Concurrent clients, beside one."""
    sessions: int
    """Open sockets while the server's threads are counted."""
    pairs: int
    """Times that server and bare route are measured, in turns, at the main size."""
    seconds: float
    """Length of each measurement over the network."""


FULL = Plan(
    sizes=(1_000, 10_000, 100_000),
    main_size=10_000,
    served=(1_000, 10_000, 100_000),
    rounds=9,
    episodes=300,
    each_sizes=(1_000, 2_000, 100_000),
    each_rounds=5,
    each_episodes=100,
    clients=64,
    sessions=256,
    pairs=7,
    seconds=2.0,
)
QUICK = Plan(
    sizes=(200, 400),
    main_size=400,
    served=(400,),
    rounds=1,
    episodes=10,
    each_sizes=(200, 400),
    each_rounds=1,
    each_episodes=5,
    clients=4,
    sessions=8,
    pairs=1,
    seconds=0.2,
)
