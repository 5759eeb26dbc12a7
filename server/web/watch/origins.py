"""Which servers of models a visitor may name.

The request comes from this server, so whoever names its address borrows this server's place in its network: what
listens on its loopback, in its cluster, at the cloud's metadata address. So nothing may be named that the operator did
not name before, and what is compared is the whole origin (scheme, host, port), never a part of a text. Names are not
looked up for the decision, so what they resolve to later makes no difference to it. Redirects are not followed.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit

LOOPBACK = "loopback"
"""Stands for every port of this machine's own loopback."""
_PORTS = {"http": 80, "https": 443}

Origin = tuple[str, str, int]
"""Scheme, host and port."""


class Origins:
    """The origins that an operator allows."""

    def __init__(self, names: Iterable[str]) -> None:
        """``names`` are origins such as ``https://models.example:8443``, and :data:`LOOPBACK`.

        Raises:
            ValueError: one is neither.
        """
        self.names = tuple(names)
        self._has_loopback = LOOPBACK in self.names
        self._origins = {_named(name) for name in self.names if name != LOOPBACK}

    def check(self, address: str) -> str:
        """Return the address of an API if visitors may name it, without a slash at its end.

        Raises:
            ValueError: they may not, or it is none.
        """
        address = address.strip().rstrip("/")
        origin = _origin(address)
        if origin not in self._origins and not (self._has_loopback and _is_loopback(origin[1])):
            known = ", ".join(self.names) or "none"
            raise ValueError(f"this server may not ask {origin[1]}, port {origin[2]}; it may ask: {known}")
        return address


def _named(name: str) -> Origin:
    if urlsplit(name).path.strip("/"):
        raise ValueError(f"{name!r} is no origin: leave its path out")
    return _origin(name)


def _origin(address: str) -> Origin:
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError(f"{address[:200]!r} is no address: {error}") from None
    if parts.scheme not in _PORTS or not host or not host.isascii() or any(c in address for c in "\\%\t\r\n "):
        raise ValueError(f"{address[:200]!r} is no address of a model: write http://host:port/v1 or https://host/v1")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("the address holds more than scheme, host, port and path; the key has a field of its own")
    return parts.scheme, host, port or _PORTS[parts.scheme]


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
