"""What runs are pinned to: what this server serves, and whether a run was played on the same."""

from __future__ import annotations

from functools import lru_cache

import ecom_rlve
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.run_models import Pins


def pins_of(shop: Shop) -> Pins:
    """Return what a server with this shop serves."""
    return Pins(
        package=ecom_rlve.__version__,
        environments={env_id: each.about.version for env_id, each in environments().items()},
        catalog=shop.catalog.fingerprint,
        bank=shop.bank.fingerprint,
    )


def difference(pinned: Pins, served: Pins) -> str | None:
    """Return what differs between a run's pins and a server's; None if the run can be played there.

    The package's own version may differ: every change that moves scores raises an environment's. Environments that are
    new since the run began change nothing for it.
    """
    for env_id, version in pinned.environments.items():
        now = served.environments.get(env_id, "none")
        if now != version:
            return f"{env_id} had version {version} and has {now}"
    if pinned.catalog != served.catalog:
        return f"the catalog was {pinned.catalog} and is {served.catalog}"
    return None if pinned.bank == served.bank else f"the bank was {pinned.bank} and is {served.bank}"


@lru_cache(maxsize=1024)
def read_pins(text: str) -> Pins:
    """Return pins from their JSON."""
    return Pins.model_validate_json(text)
