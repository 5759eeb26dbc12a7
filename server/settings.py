"""Settings of a server, read from the process environment once and passed in; nothing else reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Everything an operator may set; each field is the variable ``ECOM_RLVE_<FIELD>``."""

    model_config = SettingsConfigDict(
        env_prefix="ECOM_RLVE_", env_ignore_empty=True, extra="ignore", populate_by_name=True
    )

    host: str = "0.0.0.0"
    """Address to listen on."""
    port: int = Field(default=8000, ge=0, le=65535, validation_alias=AliasChoices("ECOM_RLVE_PORT", "PORT"))
    """TCP port; ``PORT`` is honoured where ``ECOM_RLVE_PORT`` is absent. 0 lets the system choose."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Least severe log lines that are written."""
    access_log: bool = False
    """One log line per HTTP request and per socket."""

    catalog: str = "synthetic"
    """Where the products come from: the folder of a built catalog, or a source such as ``synthetic:10000:0``."""
    cache_dir: Path | None = None
    """Folder where the search index is kept between starts; None = it is built anew at each start."""

    max_sessions: int = Field(default=1024, ge=1)
    """Places: one per socket and one per live HTTP episode."""
    max_ended_episodes: int = Field(default=2048, ge=0)
    """Ended episodes that stay readable; beyond it the oldest go first."""
    idle_ttl_s: float = Field(default=3600.0, gt=0)
    """Seconds after which an unused HTTP episode, or an ended one, is forgotten."""
    max_body_bytes: int = Field(default=1 << 20, ge=1024)
    """Largest HTTP body and WebSocket frame that is read; more is answered with ``PAYLOAD_TOO_LARGE``."""
    ws_max_frame_bytes: int = Field(default=16 << 20, ge=1024)
    """Largest frame the transport takes at all; a larger one closes the socket (1009)."""
    ws_ping_interval_s: float = Field(default=30.0, gt=0)
    """Seconds between pings to a socket."""
    ws_ping_timeout_s: float = Field(default=600.0, gt=0)
    """Seconds without an answer to a ping after which a socket counts as half-open and is closed."""
    token: SecretStr | None = Field(default=None, min_length=1)
    """Bearer token asked for on everything but ``/health``; None = open."""

    disclose_to_policy: bool = False
    """Put ``difficulty`` and ``seed`` into observations."""
    reveal_goal: bool = False
    """Put the goal into the result of an ended episode."""

    pool_above_products: int = Field(default=50_000, ge=0)
    """Catalogs larger than this run resets and steps in threads, off the event loop."""
    pool_threads: int = Field(default=4, ge=1, le=32)
    """Threads of that pool."""
