"""Which models can be watched: the one that the server's settings name, and those that a visitor may name."""

from __future__ import annotations

from ecom_rlve.server.settings import Settings
from ecom_rlve.server.web.watch.connected import HOW, Connection
from ecom_rlve.server.web.watch.origins import LOOPBACK, Origins

MODEL = "named model"
"""The choice of a model that the visitor names."""
_OWN = "own model"
"""The choice of the model that the server's settings name."""


class Models:
    """What the settings allow."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._origins = Origins(settings.agent_origins)

    @property
    def may_name(self) -> bool:
        """Whether visitors may name a model."""
        return bool(self._origins.names)

    @property
    def choices(self) -> list[tuple[str, str]]:
        """The choices with the names under which they are offered."""
        own = self._settings.agent_model
        return [*([(f"{own} (a model)", _OWN)] if own else []), ("a connected model", MODEL)]

    @property
    def about(self) -> str:
        """What a visitor is told beside the fields."""
        if not self.may_name:
            return (
                "This server asks no model that visitors name. Whoever runs it can allow that: "
                "ECOM_RLVE_AGENT_ORIGINS lists the servers of models that may be named."
            )
        places = (f"{LOOPBACK} (its own machine)" if name == LOOPBACK else name for name in self._origins.names)
        return (
            f"Any OpenAI-compatible API. This server may ask: {', '.join(places)}. "
            "The key goes to that address alone and is kept nowhere."
        )

    def is_one(self, agent: str) -> bool:
        """Tell whether a choice is a model."""
        return agent in (MODEL, _OWN)

    def connection(self, agent: str, url: str, model: str, key: str, how: str) -> Connection | None:
        """Return the model that is chosen; None if the choice is no model.

        Raises:
            ValueError: it may not be asked, or the fields name none.
        """
        if not self.is_one(agent):
            return None
        calls, format_ = HOW[how]
        if agent == MODEL:
            if not self.may_name:
                raise ValueError(self.about)
            if not model.strip():
                raise ValueError("model: name one, as its server calls it")
            return Connection(self._origins.check(url), model.strip(), _header(key), calls, format_)
        settings = self._settings
        if settings.agent_url is None or settings.agent_model is None:
            raise ValueError("this server has no model of its own")
        own_key = settings.agent_key.get_secret_value() if settings.agent_key else ""
        return Connection(settings.agent_url, settings.agent_model, own_key, calls, format_)


def _header(key: str) -> str:
    """Return a key as a header can carry it; raises ``ValueError`` otherwise, without repeating it."""
    key = key.strip()
    if not (key.isascii() and key.isprintable()):
        raise ValueError("key: it holds characters that no key has")
    return key
