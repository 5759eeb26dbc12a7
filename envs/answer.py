"""The answer that ends an episode."""

from __future__ import annotations

from pydantic import ConfigDict

from ecom_rlve.envs.written_numbers import ReadsNumbers


class Answer(ReadsNumbers):
    """Base of every environment's answer; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    done: bool
    """True submits; false proposes."""
