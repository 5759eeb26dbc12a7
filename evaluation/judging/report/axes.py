"""The values of the difficulty axes in an episode, which follow from its difficulty and its overrides (SPEC §3)."""

from __future__ import annotations

from ecom_rlve.envs.difficulty import AXES, axes_of, overridden


def axis_values(d: int, overrides: tuple[tuple[str, float], ...]) -> dict[str, float]:
    """Return the value of every axis by name."""
    axes = overridden(axes_of(d), dict(overrides))
    return {name: float(getattr(axes, name)) for name in AXES}
