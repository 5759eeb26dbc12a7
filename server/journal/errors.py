"""What the journal tells the server, which knows what to do; clients see none of it."""

from __future__ import annotations


class OvertakenError(Exception):
    """The journal holds more of an episode than was known here, or the episode is not there any more."""


class BegunBeforeError(Exception):
    """The same reset has begun its episode before."""


class DamagedEpisodeError(Exception):
    """What the journal holds of an episode cannot be played again, or comes to other answers."""
