"""Bearer tokens: who a visitor is, and what they may do.

A token belongs to an account, its ``name``. An account may have several at once, so that one can be replaced while
both work. Tokens are compared by digests and all of them each time, so that an answer's time tells nothing about one.
The file of tokens is read again when it changes; a token that is gone from it is refused from then on, in the middle
of an episode too.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterable
from contextvars import ContextVar
from enum import StrEnum
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, SecretStr, TypeAdapter, ValidationError, field_validator

from ecom_rlve.server.admission.errors import ForbiddenError, TokensError, UnauthorizedError
from ecom_rlve.server.operations.logs import Event

_LOOKS_EVERY_S = 1.0
_logger = logging.getLogger(__name__)


class Scope(StrEnum):
    """What a token is for."""

    PLAY = "play"
    """Play episodes: reset, step, finish, delete, state and trace of the account's own; sockets, JSON-RPC, drawing."""
    JUDGE = "judge"
    """See what policies must not: disclosed acts and goals, others' states and traces, exports, figures, the page."""
    ADMIN = "admin"
    """Change runs, list and delete their episodes."""


def checked_token(secret: SecretStr) -> SecretStr:
    """Return a token that a header can carry; raises ``ValueError`` for any other, and does not repeat it."""
    text = secret.get_secret_value()
    if not (text.isascii() and text.isprintable() and text == text.strip()):
        raise ValueError("a token is printable ASCII without spaces at its ends")
    return secret


class TokenSpec(BaseModel):
    """One token as an operator states it."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    name: str = Field(min_length=1, max_length=64)
    """The account."""
    token: SecretStr = Field(min_length=1)
    scopes: frozenset[Scope] = Field(default=frozenset({Scope.PLAY}), min_length=1)
    max_episodes: int | None = Field(default=None, ge=0)
    """Most places that the account may hold; None = as many as there are."""

    _is_sendable = field_validator("token")(checked_token)


class Visitor:
    """The holder of one token."""

    __slots__ = ("digest", "is_revoked", "max_episodes", "name", "scopes", "tokens")

    def __init__(self, tokens: Tokens, digest: bytes, spec: TokenSpec) -> None:
        self.tokens = tokens
        self.digest = digest
        self.name = spec.name
        self.scopes = spec.scopes
        self.max_episodes = spec.max_episodes
        self.is_revoked = False


_VISITOR: ContextVar[Visitor | None] = ContextVar("visitor", default=None)
"""Who asks, during a request or on a socket; None on an open server, and for what the server does by itself."""
_SPECS = TypeAdapter(tuple[TokenSpec, ...])


class Tokens:
    """The tokens of one server."""

    def __init__(self, single: SecretStr | None, listed: Iterable[TokenSpec], file: Path | None) -> None:
        """``single`` may do everything; ``listed`` are there for good, those in ``file`` until they are gone from it.

        Raises:
            TokensError: the file cannot be read.
        """
        self._fixed = list(listed)
        if single is not None:
            self._fixed.append(TokenSpec(name="token", token=single, scopes=frozenset(Scope)))
        self._file = file
        self._seen = _stamp(file)
        self._looked_at = time.monotonic()
        self._visitors: dict[bytes, Visitor] = {}
        self._take([*self._fixed, *_read(file)])

    @property
    def is_open(self) -> bool:
        """Whether no token is wanted at all. A file that holds none closes the server to everybody."""
        return not self._fixed and self._file is None

    def admit(self, authorization: str) -> Visitor | None:
        """Return who sent this header; None if nobody known did."""
        self.refresh()
        scheme, _, given = authorization.partition(" ")
        digest = sha256(given.strip().encode()).digest()
        found = None
        for known, visitor in self._visitors.items():
            if compare_digest(known, digest):
                found = visitor
        return found if scheme.lower() == "bearer" else None

    def refresh(self) -> None:
        """Read the file again if it has changed; looks at most once a second.

        While a changed file cannot be read, the tokens stay as they were, and the log says so once.
        """
        now = time.monotonic()
        if self._file is None or now - self._looked_at < _LOOKS_EVERY_S:
            return
        self._looked_at = now
        stamp = _stamp(self._file)
        if stamp == self._seen:
            return
        self._seen = stamp
        try:
            specs = _read(self._file)
        except TokensError as error:
            _logger.error(Event("tokens_unchanged", error=error))
            return
        self._take([*self._fixed, *specs])
        _logger.info(Event("tokens_read", tokens=len(specs)))

    def _take(self, specs: Iterable[TokenSpec]) -> None:
        named = {sha256(spec.token.get_secret_value().encode()).digest(): spec for spec in specs}
        taken = {digest: Visitor(self, digest, spec) for digest, spec in named.items()}
        for digest, visitor in self._visitors.items():
            if digest not in taken:
                visitor.is_revoked = True
                continue
            # Sockets hold on to their visitor, who may do from now on what the file says now.
            now = taken[digest]
            visitor.name, visitor.scopes, visitor.max_episodes = now.name, now.scopes, now.max_episodes
            taken[digest] = visitor
        self._visitors = taken


def visit(visitor: Visitor) -> None:
    """Say that the running task works for this visitor."""
    _VISITOR.set(visitor)


def visitor() -> Visitor | None:
    """Return whom the running task works for; None for nobody in particular, who may do everything."""
    return _VISITOR.get()


def account() -> str | None:
    """Return the visitor's account; None for nobody in particular."""
    found = _VISITOR.get()
    return None if found is None else found.name


def own_name(name: str) -> str:
    """Return what a visitor calls something, told apart from what other accounts call so."""
    return json.dumps([account(), name])


def may(scope: Scope) -> bool:
    """Tell whether the visitor has a scope."""
    found = _VISITOR.get()
    return found is None or scope in found.scopes


def require(scope: Scope) -> None:
    """Let a visitor pass who has a scope.

    Raises:
        UnauthorizedError: the token was revoked.
        ForbiddenError: it has not this scope.
    """
    found = _VISITOR.get()
    if found is None:
        return
    found.tokens.refresh()
    if found.is_revoked:
        raise UnauthorizedError("this token was revoked; ask for another")
    if scope not in found.scopes:
        raise ForbiddenError(f"this needs a token with the scope '{scope}'")


def _stamp(file: Path | None) -> tuple[int, int, int] | None:
    try:
        facts = None if file is None else file.stat()
    except OSError:
        return None
    return None if facts is None else (facts.st_mtime_ns, facts.st_size, facts.st_ino)


def _read(file: Path | None) -> tuple[TokenSpec, ...]:
    if file is None:
        return ()
    try:
        return _SPECS.validate_python(json.loads(file.read_text(encoding="utf-8")))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise TokensError(f"{file.name}: {place}: {first['msg']}") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a JSON list of tokens"
        raise TokensError(f"the file of tokens {file.name} cannot be read: {why}") from None
