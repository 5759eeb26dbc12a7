"""The cache that is bounded by bytes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from ecom_rlve.catalog.search.byte_cache import ByteCache


def test_what_was_used_last_stays() -> None:
    cache, made = ByteCache(3_000), list[str]()

    def value(key: str) -> str:
        def make() -> str:
            made.append(key)
            return key

        return cache.get(key, make, lambda _: 800)

    assert [value(key) for key in ("a", "b", "a", "c", "d")] == ["a", "b", "a", "c", "d"]
    assert value("a") == "a"
    assert made == ["a", "b", "c", "d"]
    value("b")
    assert made == ["a", "b", "c", "d", "b"]
    assert cache.bytes <= cache.most_bytes


def test_what_is_too_large_is_made_each_time() -> None:
    cache, made = ByteCache(1_000), list[int]()
    for _ in range(2):
        cache.get("large", lambda: made.extend([1]), lambda _: 5_000)
    assert len(made) == 2
    assert cache.bytes == 0


def test_threads_share_it() -> None:
    cache = ByteCache(20_000)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda at: cache.get(at % 50, lambda: at % 50, lambda _: 700), range(4000)))
    assert found == [at % 50 for at in range(4000)]
    assert 0 < cache.bytes <= cache.most_bytes
