"""Settings of a server. They are read from the process environment once; nothing else reads it."""

from __future__ import annotations

import os
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AliasChoices, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from ecom_rlve.server.admission.tokens import TokenSpec, checked_token
from ecom_rlve.server.operations.logs import LogFormat
from ecom_rlve.server.web.watch.origins import Origins

RedisUrl = Annotated[str, Field(pattern="^rediss?://")]
_LOOPBACK = "127.0.0.1"
_EVERYWHERE = "0.0.0.0"


class Settings(BaseSettings):
    """Everything an operator may set; each field is the variable ``ECOM_RLVE_<FIELD>``."""

    model_config = SettingsConfigDict(
        env_prefix="ECOM_RLVE_",
        env_ignore_empty=True,
        extra="ignore",
        populate_by_name=True,
        # A value may be a secret.
        hide_input_in_errors=True,
    )

    host: str | None = None
    """Address to listen on; None = this machine alone (``127.0.0.1``), or every address (``0.0.0.0``) where a token is
    wanted."""
    port: int = Field(default=8000, ge=0, le=65535, validation_alias=AliasChoices("ECOM_RLVE_PORT", "PORT"))
    """TCP port; ``PORT`` is honoured where ``ECOM_RLVE_PORT`` is absent. 0 lets the system choose."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Least severe log lines that are written."""
    log_format: LogFormat = "text"
    """``text``: ``key=value`` pairs; ``json``: one JSON object a line."""
    access_log: bool = False
    """One log line per HTTP request and per socket: its route, never its address, and a short form of the episode's
    id."""
    grace_s: float = Field(default=8.0, gt=0)
    """Most seconds between SIGTERM and the end: resets are refused, running steps finished, then connections cut.
    Docker kills after 10."""

    catalog: str = "synthetic"
    """Where the products come from: the folder of a built catalog, or a source such as ``synthetic:10000:0``."""
    cache_dir: Path | None = None
    """Folder where the search index is kept between starts; None = it is built anew at each start."""

    store: RedisUrl | Path | Literal["memory"] | None = None
    """File that runs, frontiers, groups and counted episodes are kept in; ``memory`` = they end with the server; None =
    ``ecom-rlve/store.sqlite3`` in ``$XDG_STATE_HOME``, or else in ``~/.local/state``. ``redis://HOST:PORT/NUMBER``:
    servers on several machines share one; it needs the extra ``redis``, and each machine keeps a copy where that file
    would be."""

    journal: Literal["sqlite", "memory"] | None = None
    """Where episodes and their actions are written down. ``sqlite``: in the store, so that a server that is started
    again, and any of its workers, goes on with them. ``memory``: they end with the server. None = as the store."""
    journal_days: float = Field(default=7.0, gt=0)
    """Days that ended episodes stay in the journal."""
    journal_episodes: int = Field(default=100_000, ge=0)
    """Ended episodes that the journal keeps; if there are more, the oldest are removed."""
    journal_bytes: int = Field(default=2 << 30, ge=0)
    """Bytes of ended episodes that the journal keeps, about; likewise."""
    workers: int = Field(default=1, ge=1, le=64)
    """Processes that serve; more than one need a store in a file on a disk of this machine."""

    max_sessions: int = Field(default=1024, ge=1)
    """Places of all workers together: one per socket and one per live HTTP episode; fewer where the limit of open files
    is lower."""
    max_ended_episodes: int = Field(default=2048, ge=0)
    """Number of ended episodes that stay readable; if there are more, the oldest are forgotten."""
    idle_ttl_s: float = Field(default=3600.0, gt=0)
    """Seconds without use after which an HTTP episode, or an ended one, is forgotten."""
    lease_s: float = Field(default=300.0, gt=0)
    """Seconds after the last heartbeat, for clients that send any, until their episodes and sockets are given up."""
    max_connections_per_address: int | None = Field(default=None, ge=1)
    """Most connections from one address that are served, by all workers together; None = twice as many as there are
    places."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses of proxies, or networks such as ``10.0.0.0/8``: any number of connections may come from them, and what
    they say of a client's address and scheme is believed. None named = that of proxies on this machine is."""
    header_timeout_s: float = Field(default=10.0, gt=0)
    """Seconds in which a request's header must have come."""
    body_timeout_s: float = Field(default=60.0, gt=0)
    """Seconds in which a request's body, or the rest of a frame, must have come."""
    write_timeout_s: float = Field(default=60.0, gt=0)
    """Seconds in which a client must read some of an answer that waits for it."""
    max_header_bytes: int = Field(default=32_768, ge=1024)
    """Largest header of a request, with its address; more is answered with 431."""
    max_url_bytes: int = Field(default=8192, ge=256)
    """Longest address of a request; a longer one is answered with 414."""
    max_body_bytes: int = Field(default=1 << 20, ge=1024)
    """Largest HTTP body and WebSocket frame that is read; more is answered with ``PAYLOAD_TOO_LARGE``."""
    ws_max_frame_bytes: int = Field(default=16 << 20, ge=1024)
    """Largest frame that is accepted at all; a larger one closes the socket (1009)."""
    ws_ping_interval_s: float = Field(default=30.0, gt=0)
    """Seconds between pings to a socket."""
    ws_ping_timeout_s: float = Field(default=600.0, gt=0)
    """Seconds without an answer to a ping after which a socket counts as half-open and is closed."""
    token: SecretStr | None = Field(default=None, min_length=1)
    """Bearer token with every scope. Where there is any token, each request but ``/health`` and ``/ready`` must carry
    one; without any the server is open to all who reach it."""
    tokens: tuple[TokenSpec, ...] = ()
    """Further tokens with their scopes (docs/security.md)."""
    tokens_file: Path | None = None
    """File with such a list, which is read again when it changes."""
    allowed_hosts: tuple[str, ...] = ()
    """Names of the server that a request may be meant for, beside addresses, ``localhost`` and names without a dot;
    ``*`` is any name."""
    space_host: str | None = Field(default=None, validation_alias=AliasChoices("ECOM_RLVE_SPACE_HOST", "SPACE_HOST"))
    """One more such name; a Hugging Face Space sets it."""
    allowed_origins: tuple[str, ...] = ()
    """Origins whose pages a browser may let use the server, such as ``https://lab.example.com``; its own page needs
    none."""

    disclose_to_policy: bool = False
    """Put ``difficulty`` and ``seed`` into observations."""
    disclose_acts: bool = False
    """Put what the customer said into ``metadata`` as acts, for scripted agents. For judging only: such episodes count
    for no curriculum and no board."""
    reveal_goal: bool = False
    """Put the goal into the result of an ended episode."""

    web: bool | None = None
    """Serve the page at ``/web``, which needs the extra ``web``; None = where that is installed, with
    one worker."""
    reports: Path | None = None
    """Folder whose latest report the page shows; None = none, visitors can only open files of their own."""

    agent_origins: tuple[str, ...] = ()
    """Servers of models that visitors of the page may name, to watch one play: a JSON list of origins such as
    ``["https://models.example:8443"]``, with ``loopback`` for every port of this machine; empty = none."""
    agent_url: str | None = None
    """Address of an OpenAI-compatible server whose model every visitor may watch; needs ``agent_model``."""
    agent_model: str | None = None
    """Name of that model on its server; needs ``agent_url``."""
    agent_key: SecretStr | None = Field(default=None, min_length=1)
    """Bearer token for that server, never for one that a visitor names; None = none is sent."""

    pool_above_products: int = Field(default=50_000, ge=0)
    """With more products than this, resets and steps run in threads instead of the event loop."""
    pool_threads: int = Field(default=4, ge=1, le=32)
    """Number of these threads."""

    bank: tuple[Path, ...] = ()
    """Files of further frames for what customers say (docs/bank.md); in the environment a JSON list of paths."""
    simulator: Literal["template", "model"] = "template"
    """Who words the customer: the templates, or a language model whose words are checked."""
    model_url: str | None = None
    """Address of an OpenAI-compatible server, such as ``http://127.0.0.1:8080/v1``; ``model`` needs it."""
    model_name: str | None = None
    """Name of the model on that server; ``model`` needs it."""
    model_key: SecretStr | None = Field(default=None, min_length=1)
    """Bearer token for that server; None = none is sent."""
    model_temperature: float = Field(default=0.7, ge=0, le=2)
    """Temperature of the wordings."""
    model_max_tokens: int = Field(default=200, ge=16, le=4096)
    """Most tokens of a wording."""
    model_extra_body: dict[str, Any] = Field(default_factory=dict)
    """JSON object merged into each request, such as ``{"chat_template_kwargs": {"enable_thinking": false}}``."""
    model_concurrency: int = Field(default=32, ge=1, le=4096)
    """Most requests to the model at the same time; others wait."""
    model_timeout_s: float = Field(default=20.0, gt=0)
    """Seconds that one request to the model may take."""
    model_cooldown_s: float = Field(default=30.0, ge=0)
    """Seconds to wait before a model that failed five times in a row is asked again."""
    opening_budget_s: float = Field(default=5.0, gt=0)
    """Seconds that a reset may wait for the words of the first message; then the template is said."""
    openings_ahead: int = Field(default=4, ge=0, le=64)
    """Number of first messages that are worded ahead of time, for each environment and difficulty that resets with
    neither a seed nor a group ask for."""
    reply_budget_s: float = Field(default=60.0, gt=0)
    """Seconds that a step may wait for the words of the customer's reply; then the template is said."""
    fallback: Literal["template", "none"] | None = None
    """What happens while the model does not answer. ``template``: the template is said, even right after the start.
    ``none``: the episode ends with ``infra_error``. None = the template is said, but the model must answer at the
    start."""
    cassette: Path | None = None
    """File to which wordings are recorded, and from which they are replayed."""
    cassette_mode: Literal["off", "record", "replay", "replay-or-fail"] = "off"
    """What happens with a wording that the cassette lacks. ``record``: the model is asked, and its answer kept.
    ``replay``: the template is said. ``replay-or-fail``: the episode ends with ``infra_error``. A replay needs no
    model."""
    understanding: bool = False
    """Let the model say what a free-text question asks about, if the rules find nothing."""

    @field_validator("token")
    @classmethod
    def _is_sendable(cls, token: SecretStr | None) -> SecretStr | None:
        return None if token is None else checked_token(token)

    @model_validator(mode="after")
    def _require_what_goes_together(self) -> Self:
        if self.store == "memory" and self.journal == "sqlite":
            raise ValueError("journal sqlite stands in the store: set store to a file, or journal to memory")
        if self.workers > 1 and not self.is_journalled:
            raise ValueError(
                "several workers share episodes through the journal: set store to a file, and journal not to memory"
            )
        if self.cassette_mode != "off" and self.cassette is None:
            raise ValueError(f"cassette_mode {self.cassette_mode} needs a cassette: name its file")
        if self.simulator == "template" and (self.cassette_mode != "off" or self.understanding):
            raise ValueError("a cassette and understanding are the model's: set simulator to model")
        if self.simulator == "model" and self.model_name is None:
            raise ValueError("simulator model needs model_name, the name that the server gives the model")
        if self.simulator == "model" and self.model_url is None and not self.is_replayed:
            raise ValueError("simulator model needs model_url, the address of an OpenAI-compatible server")
        if (self.agent_url is None) is not (self.agent_model is None):
            raise ValueError("agent_url and agent_model go together: set both, or neither")
        return self

    @field_validator("agent_origins")
    @classmethod
    def _require_origins(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        Origins(names)
        return names

    @property
    def wants_token(self) -> bool:
        """Whether requests must carry a token."""
        return self.token is not None or bool(self.tokens) or self.tokens_file is not None

    @property
    def address(self) -> str:
        """The address to listen on."""
        return self.host or (_EVERYWHERE if self.wants_token else _LOOPBACK)

    @property
    def store_path(self) -> Path | None:
        """The file of the store; None keeps everything in memory."""
        if self.store is not None and self.store_url is None:
            return None if self.store == "memory" else Path(self.store)
        home = os.environ.get("XDG_STATE_HOME", "")
        # The standard for that variable says that a relative path counts as absent.
        folder = Path(home) if Path(home).is_absolute() else Path.home() / ".local" / "state"
        if self.store_url is None:
            return folder / "ecom-rlve" / "store.sqlite3"
        name = blake2b(self.store_url.encode(), digest_size=8).hexdigest()
        return folder / "ecom-rlve" / f"copy-{name}.sqlite3"

    @property
    def store_url(self) -> str | None:
        """The address of the store in Redis; None where it is none."""
        return self.store if isinstance(self.store, str) and self.store != "memory" else None

    @property
    def is_journalled(self) -> bool:
        """Whether episodes are written down."""
        return self.store != "memory" and self.journal != "memory"

    @property
    def is_replayed(self) -> bool:
        """Whether the customer's words come only from a cassette."""
        return self.cassette_mode.startswith("replay")
