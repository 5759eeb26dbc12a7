"""Which rollouts teach something: those of groups that hold both correct and wrong ones.

DAPO's dynamic sampling keeps groups with 0 < correct < G. Filtering on the spread of rewards is not the same: in a
group of eight correct episodes the rewards still differ, by ``r_eff`` alone, and normalising by the group's deviation
blows that difference up to the size of right against wrong. The policy would be taught to hurry by its surest prompts.
"""

from __future__ import annotations

from torch import Tensor


def mixed(correct: Tensor, group_size: int) -> Tensor:
    """Return for each rollout whether it is kept: it was scored, and its group holds correct and wrong ones.

    ``correct`` is 1, 0 or NaN (not scored: an infrastructure failure), in the order of the groups. A group with lost
    rollouts is judged by the others.
    """
    groups = correct.view(-1, group_size)
    scored = ~groups.isnan()
    right = groups.nansum(dim=1)
    both = (right > 0) & (right < scored.sum(dim=1))
    return (scored & both.unsqueeze(1)).flatten()


def share_of_mixed_groups(kept: Tensor, group_size: int) -> float:
    """Return the share of groups of which any rollout is kept."""
    return float(kept.view(-1, group_size).any(dim=1).float().mean())
