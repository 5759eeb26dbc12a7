"""The twelve axes: the printed table of SPEC §3, and overrides."""

import re
from math import floor

import pytest

from ecom_rlve.envs.difficulty import AXES, axes_of, logistic, overridden
from ecom_rlve.envs.errors import AxesError

TABLE = {
    "m": (2, 3, 5, 6, 8),
    "p_missing": (0.05, 0.32, 0.70, 0.79, 0.80),
    "eps_rank": (0, 0.06, 0.12, 0.18, 0.24),
    "p_oos": (0, 0.15, 0.30, 0.45, 0.50),
    "t_max": (4, 5, 7, 8, 10),
    "p_noise": (0, 0.03, 0.06, 0.09, 0.12),
    "p_switch": (0.05, 0.16, 0.37, 0.53, 0.58),
    "top_k": (200, 170, 140, 110, 80),
    "h_orders": (12, 18, 24, 30, 36),
    "b_branch": (1, 2, 3, 4, 5),
    "b_tool": (2, 3, 5, 6, 6),
    "k_rec": (3, 4, 5, 6, 7),
}


@pytest.mark.parametrize("axis", TABLE)
def test_axes_match_the_printed_table(axis: str) -> None:
    measured = [getattr(axes_of(d), axis) for d in (0, 3, 6, 9, 12)]
    assert measured == pytest.approx(TABLE[axis], abs=0.0051)


def test_published_turn_budgets() -> None:
    assert axes_of(1).t_max == 4
    assert axes_of(8).t_max == 8


def test_the_declarations_are_the_twelve_of_the_table_in_its_order() -> None:
    assert list(AXES) == list(TABLE)
    assert [axis.number for axis in AXES.values()] == list(range(1, 13))


@pytest.mark.parametrize("axis", TABLE)
def test_a_formula_says_what_is_computed(axis: str) -> None:
    """The text that pages print, read as arithmetic, gives the value of every difficulty."""
    text = re.sub("⌊([^⌋]+)⌋", r"floor(\1)", AXES[axis].formula).replace("−", "-").replace("·", "*")
    names = {"floor": floor, "σ": logistic, "min": min, "max": max}
    assert [eval(text, {**names, "d": d}) for d in range(21)] == [getattr(axes_of(d), axis) for d in range(21)]


@pytest.mark.parametrize("axis", TABLE)
def test_every_value_is_within_the_bounds_and_of_the_kind_of_an_override(axis: str) -> None:
    declared = AXES[axis]
    for value in (getattr(axes_of(d), axis) for d in range(21)):
        assert declared.least <= value <= declared.most
        assert type(value) is (int if declared.is_whole else float)
        assert getattr(overridden(axes_of(0), {axis: value}), axis) == value


@pytest.mark.parametrize("axis", TABLE)
def test_every_axis_is_monotone(axis: str) -> None:
    values = [getattr(axes_of(d), axis) for d in range(21)]
    assert values == sorted(values, reverse=axis == "top_k")


def test_overrides_replace_single_axes() -> None:
    axes = overridden(axes_of(3), {"p_missing": 0, "t_max": 9.0})
    assert (axes.p_missing, axes.t_max, axes.b_tool) == (0.0, 9, 3)
    assert isinstance(axes.t_max, int)


@pytest.mark.parametrize(
    "overrides",
    [
        {"speed": 1},
        {"p_oos": 1.5},
        {"p_oos": -0.1},
        {"t_max": 4.5},
        {"t_max": 1},
        {"d": 3},
        {"p_noise": float("nan")},
        {"t_max": float("inf")},
        {"b_tool": 0},
    ],
)
def test_bad_overrides_are_refused(overrides: dict[str, float]) -> None:
    with pytest.raises(AxesError):
        overridden(axes_of(3), overrides)
