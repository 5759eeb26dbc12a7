r"""The guarded protocols under names, for who starts uvicorn instead of ``ecom-rlve serve``:

    uvicorn ecom_rlve.server.app:app --http ecom_rlve.server.admission.by_name:http \
        --ws ecom_rlve.server.admission.by_name:ws

Both are made when uvicorn asks for them, with the settings of the process environment.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ecom_rlve.server.admission.listening import protocols
from ecom_rlve.server.settings import Settings

_NAMES = ("http", "ws")


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _made()[name]


@lru_cache(maxsize=1)
def _made() -> dict[str, Any]:
    """Return both over one door, which counts the connections of this process."""
    return protocols(Settings())
