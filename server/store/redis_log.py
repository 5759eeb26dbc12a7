"""The order of transactions in Redis: a stream of changes, the latest of them, a lock, and an image of the store.

All keys begin with ``ecom-rlve:<version of the tables>:``. Whether something was appended decides the stream alone,
which takes each number once; the lock only keeps servers from working in vain, so it may expire at any time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from ecom_rlve.server.store.changes import Entry, Head
from ecom_rlve.server.store.errors import StoreError, StoreUnavailableError
from ecom_rlve.server.store.schema import VERSION

_ANSWER_S = 2.0
"""Seconds that Redis may take to answer. Nothing is served meanwhile."""
_LOCK_WAIT_S, _LOCK_MS = 2.0, 3000
"""Seconds to wait for others' transactions; milliseconds after which the lock of a server that died is free."""
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.001, 0.008
_AT_ONCE = 500
_SNAPSHOT_EVERY, _KEPT = 20_000, 5_000
"""Transactions between two images, and those that stay before one for servers that lag behind."""
_CHUNK = 16 << 20
_TAKE = """
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return false end
return {redis.call('GET', KEYS[2]) or '', redis.call('XRANGE', KEYS[3], '(' .. ARGV[3] .. '-0', '+', 'COUNT', ARGV[4])}
"""
_APPEND = """
redis.call('XADD', KEYS[2], ARGV[2] .. '-0', 'tag', ARGV[3], 'previous', ARGV[4], 'changes', ARGV[5])
redis.call('SET', KEYS[3], ARGV[2] .. ' ' .. ARGV[3])
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
"""
_GIVE_BACK = "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end return 1"


class RedisLog:
    """A :class:`~ecom_rlve.server.store.changes.ChangeLog`."""

    def __init__(self, url: str) -> None:
        """Connect to the database that ``url`` names: ``redis://[:PASSWORD@]HOST[:PORT]/NUMBER``, or ``rediss://``.

        Raises:
            StoreError: it does not answer, or ``url`` is wrong.
        """
        try:
            self._redis = Redis.from_url(url, socket_timeout=_ANSWER_S, socket_connect_timeout=_ANSWER_S)
            seconds, microseconds = self._redis.time()
        except (RedisError, OSError, ValueError) as error:
            # Its message may hold the address.
            raise StoreError(f"the store in Redis does not answer ({type(error).__name__})") from error
        self._ahead = seconds + microseconds / 1e6 - time.monotonic()
        prefix = f"ecom-rlve:{VERSION}"
        self._lock, self._log, self._head, self._image = (
            f"{prefix}:{name}" for name in ("lock", "log", "head", "image")
        )
        self._take = self._redis.register_script(_TAKE)
        self._append = self._redis.register_script(_APPEND)
        self._give_back = self._redis.register_script(_GIVE_BACK)

    def head(self) -> Head:
        """Return the latest transaction; raises ``StoreUnavailableError``, as all methods do."""
        with _translated():
            return _head(self._redis.get(self._head))

    def after(self, position: int) -> list[Entry]:
        """Return the next transactions, in order: 500 at the most."""
        with _translated():
            found: Any = self._redis.xrange(self._log, min=f"({position}-0", count=_AT_ONCE)
        return [_entry(each, fields) for each, fields in found]

    def take(self, token: str, position: int) -> tuple[Head, list[Entry]]:
        """Wait for the lock and take it; return the latest transaction, and at most 500 after ``position``."""
        deadline, pause = time.monotonic() + _LOCK_WAIT_S, _FIRST_PAUSE_S
        while time.monotonic() < deadline:
            with _translated():
                keys, args = [self._lock, self._head, self._log], [token, _LOCK_MS, position, _AT_ONCE]
                found: Any = self._take(keys=keys, args=args)
            if found is not None:
                return _head(found[0]), [_entry(each, _fields(pairs)) for each, pairs in found[1]]
            time.sleep(pause)
            pause = min(_LONGEST_PAUSE_S, pause * 1.5)
        raise StoreUnavailableError("other servers write to the store all the time; nothing was changed, try again")

    def append(self, token: str, entry: Entry) -> None:
        """Append a transaction and give the lock back."""
        head = entry.head
        keys = [self._lock, self._log, self._head]
        try:
            with _translated():
                self._append(keys=keys, args=[token, head.position, head.tag, entry.previous, entry.changes])
        except StoreUnavailableError:
            # Its answer may be lost, and the client may have sent it twice: what stands there tells.
            if self.head() != head:
                raise

    def give_back(self, token: str) -> None:
        """Give the lock back, if it is still held."""
        with _translated():
            self._give_back(keys=[self._lock], args=[token])

    def snapshot(self) -> bytes | None:
        """Return the newest image of the store."""
        with _translated():
            name = self._redis.get(self._image)
            if name is None:
                return None
            chunks: Any = self._redis.lrange(f"{self._image}:{_text(name)}", 0, -1)
        return b"".join(chunks)

    def keep_snapshot(self, head: Head, image: bytes) -> None:
        """Keep an image, forget the last one, and the transactions long before it."""
        key = f"{self._image}:{head.position}"
        with _translated():
            if not self._redis.set(f"{self._image}:lock", head.tag, nx=True, ex=60):
                return
            self._redis.delete(key)
            for start in range(0, len(image), _CHUNK):
                self._redis.rpush(key, image[start : start + _CHUNK])
            before = self._redis.getset(self._image, str(head.position))
            self._redis.xtrim(self._log, minid=f"{max(0, head.position - _KEPT)}-0", approximate=False)
            if before is not None and _text(before) != str(head.position):
                self._redis.delete(f"{self._image}:{_text(before)}")
            self._redis.delete(f"{self._image}:lock")

    @property
    def wants_snapshot(self) -> bool:
        """Whether an image is due."""
        with _translated():
            newest = self._redis.get(self._image)
        return self.head().position >= (int(newest) if newest is not None else 0) + _SNAPSHOT_EVERY

    def seconds(self) -> float:
        """Return Redis' time as it was at the start, and what this machine's steady clock has counted since."""
        return float(time.monotonic() + self._ahead)

    def close(self) -> None:
        """Let go of the connections."""
        self._redis.close()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (RedisError, OSError) as error:
        raise StoreUnavailableError(
            f"the store in Redis cannot be used now ({type(error).__name__}); nothing was changed, try again later"
        ) from error


def _head(found: Any) -> Head:
    if not found:
        return Head()
    position, _, tag = _text(found).partition(" ")
    return Head(int(position), tag)


def _fields(pairs: Any) -> dict[Any, Any]:
    return dict(zip(pairs[::2], pairs[1::2], strict=True))


def _entry(number: Any, fields: Any) -> Entry:
    position = int(_text(number).partition("-")[0])
    return Entry(Head(position, _text(fields[b"tag"])), _text(fields[b"previous"]), fields[b"changes"])


def _text(found: Any) -> str:
    return found.decode() if isinstance(found, bytes) else str(found)
