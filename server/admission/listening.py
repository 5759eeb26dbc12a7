"""How a server listens: with guarded protocols, and with as many places as the limit of open files leaves room for."""

from __future__ import annotations

import os
from functools import partial
from ipaddress import ip_address
from typing import Any

from ecom_rlve.server.admission.descriptors import held, open_files, raised_limit, room
from ecom_rlve.server.admission.door import Door, Limits
from ecom_rlve.server.admission.protocols import GuardedHttp, GuardedSocket
from ecom_rlve.server.operations.shared_figures import shared_folder
from ecom_rlve.server.operations.shared_seats import SharedSeats
from ecom_rlve.server.settings import Settings


def fitted(settings: Settings) -> Settings:
    """Raise the limit of open files and return the settings with as many places as fit below it.

    What a server maps should be open by now.
    """
    places = room(raised_limit(), held()).places
    return settings if settings.max_sessions <= places else settings.model_copy(update={"max_sessions": places})


def protocols(settings: Settings) -> dict[str, Any]:
    """Return those of uvicorn's options that guard connections."""
    folder = shared_folder()
    door = Door(limits(settings), None if folder is None else SharedSeats(folder, os.getpid()))
    options: dict[str, Any] = {"http": partial(GuardedHttp, door=door), "ws": partial(GuardedSocket, door=door)}
    if settings.trusted_proxies:
        options["forwarded_allow_ips"] = list(settings.trusted_proxies)
    return options


def limits(settings: Settings) -> Limits:
    """Return what a server with these settings allows its connections."""
    connections, seats = room(open_files(), held())
    return Limits(
        connections=connections,
        seats=seats,
        per_address=settings.max_connections_per_address or 2 * settings.max_sessions,
        header_bytes=settings.max_header_bytes,
        url_bytes=settings.max_url_bytes,
        header_timeout_s=settings.header_timeout_s,
        body_timeout_s=settings.body_timeout_s,
        write_timeout_s=settings.write_timeout_s,
        socket_write_timeout_s=max(settings.write_timeout_s, settings.ws_ping_timeout_s),
        trusted_proxies=settings.trusted_proxies,
    )


def is_exposed(settings: Settings) -> bool:
    """Tell whether other machines reach the server and no token is wanted of them."""
    if settings.wants_token or settings.address == "localhost":
        return False
    try:
        return not ip_address(settings.address).is_loopback
    except ValueError:
        return True
