"""What keeps a command from doing its work."""


class CommandFailedError(Exception):
    """A command could not do its work; the message is for the person who typed it."""
