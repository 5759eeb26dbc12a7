"""How much is measured: the full run, and a short one that only checks that everything works."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plan:
    """Sizes, counts and durations of one run."""

    sizes: tuple[int, ...]
    """Sizes of the catalogs, ascending; resets on the first and the last are compared."""
    main_size: int
    """The one of ``sizes`` on which episodes/s and the server's rates are judged."""
    served: tuple[int, ...]
    """The ``sizes`` that are also measured over the network; ``main_size`` is one of them."""
    rounds: int
    """Number of rounds; in each one every in-process figure is taken, for all sizes in turn."""
    episodes: int
    """Number of episodes of each size and difficulty in a round."""
    each_sizes: tuple[int, ...]
    """Sizes of the catalogs on which every environment is measured, ascending; 1,000 products are too few for SUB."""
    each_rounds: int
    each_episodes: int
    """Number of episodes of each environment and size in a round."""
    clients: int
    """Number of concurrent clients; a single one is measured too."""
    sessions: int
    """Number of open sockets while the server's threads are counted."""
    pairs: int
    """How often server and bare route are measured, in turns, at the main size."""
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
