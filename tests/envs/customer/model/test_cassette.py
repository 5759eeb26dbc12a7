"""The cassette: first recordings stay, files that are none are refused, export and import are inverse."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.envs.customer.model.cassette import Cassette, CassetteMode, Recording, key_of
from ecom_rlve.envs.customer.model.errors import CassetteFileError

RECORD, REPLAY = CassetteMode.RECORD, CassetteMode.REPLAY


def test_the_first_recording_of_a_key_stays(tmp_path: Path) -> None:
    async def recorded() -> None:
        cassette = Cassette(tmp_path / "a.sqlite", RECORD)
        assert await cassette.find("k") is None
        assert await cassette.keep("k", Recording("first", "accepted")) == ("first", "accepted")
        assert await cassette.keep("k", Recording("second", "retried")) == ("first", "accepted")
        cassette.close()
        again = Cassette(tmp_path / "a.sqlite", REPLAY)
        assert await again.find("k") == ("first", "accepted")
        again.close()

    asyncio.run(recorded())


def test_two_processes_share_a_file(tmp_path: Path) -> None:
    async def recorded() -> None:
        one, other = Cassette(tmp_path / "a.sqlite", RECORD), Cassette(tmp_path / "a.sqlite", RECORD)
        kept = await asyncio.gather(
            *(
                cassette.keep(f"k{number}", Recording(name, "accepted"))
                for number in range(50)
                for name, cassette in (("one", one), ("other", other))
            )
        )
        assert len(kept) == 100
        assert all(first == second for first, second in zip(kept[::2], kept[1::2], strict=True))
        one.close()
        other.close()

    asyncio.run(recorded())


@given(st.dictionaries(st.text("0123456789abcdef", min_size=1), st.text(), max_size=5))
def test_export_and_import_are_inverse(texts: dict[str, str]) -> None:
    rows = {key: text for key, text in texts.items() if text.isprintable()}
    one = Cassette(Path(":memory:"), RECORD)
    for key, text in rows.items():
        asyncio.run(one.keep(key, Recording(text, "accepted")))
    lines = list(one.dump())
    other = Cassette(Path(":memory:"), RECORD)
    assert other.load(lines) == len(rows)
    assert other.load(lines) == 0
    assert list(other.dump()) == lines
    one.close()
    other.close()


def test_export_is_in_the_order_of_keys(tmp_path: Path) -> None:
    cassette = Cassette(tmp_path / "a.sqlite", RECORD)
    cassette.load(['{"key": "b", "text": "2", "outcome": "accepted"}\n', '{"key": "a", "text": "1", "outcome": "x"}'])
    assert [line[:11] for line in cassette.dump()] == ['{"key": "a"', '{"key": "b"']
    cassette.close()


@pytest.mark.parametrize(
    "lines",
    [["{}"], ["[1]"], ["nonsense"], ['{"key": 1, "text": "", "outcome": ""}'], ['{"key": "a", "text": "b"}']],
)
def test_lines_that_are_no_recordings_are_refused(lines: list[str], tmp_path: Path) -> None:
    cassette = Cassette(tmp_path / "a.sqlite", RECORD)
    good = '{"key": "good", "text": "", "outcome": "accepted"}'
    with pytest.raises(CassetteFileError, match="line 2 is no recording"):
        cassette.load([good, *lines])
    assert list(cassette.dump()) == []
    cassette.close()


def test_an_import_that_contradicts_keeps_nothing(tmp_path: Path) -> None:
    cassette = Cassette(tmp_path / "a.sqlite", RECORD)
    cassette.load(['{"key": "a", "text": "1", "outcome": "accepted"}'])
    with pytest.raises(CassetteFileError, match="another recording under the key a"):
        cassette.load(
            ['{"key": "0", "text": "0", "outcome": "accepted"}', '{"key": "a", "text": "2", "outcome": "accepted"}']
        )
    assert len(list(cassette.dump())) == 1
    cassette.close()


@pytest.mark.parametrize("mode", [RECORD, REPLAY, CassetteMode.REPLAY_OR_FAIL])
def test_files_that_are_none_are_refused(mode: CassetteMode, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no database, but long enough for the header of one " * 40)
    with pytest.raises(CassetteFileError, match="damaged, or no cassette"):
        Cassette(text, mode)
    foreign = tmp_path / "foreign"
    with sqlite3.connect(foreign) as database:
        database.execute("CREATE TABLE other (a)")
    database.close()
    with pytest.raises(CassetteFileError, match="no cassette of version"):
        Cassette(foreign, mode)
    assert text.read_text().startswith("no database")


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    cassette = Cassette(path, RECORD)
    cassette.load(f'{{"key": "{number:04}", "text": "{"x" * 200}", "outcome": "accepted"}}' for number in range(400))
    cassette.close()
    raw = bytearray(path.read_bytes())
    raw[8192 : len(raw) - 4096] = b"\x5a" * (len(raw) - 12288)
    path.write_bytes(bytes(raw))
    with pytest.raises(CassetteFileError, match="damaged"):
        Cassette(path, REPLAY)


def test_playing_needs_a_file(tmp_path: Path) -> None:
    with pytest.raises(CassetteFileError, match="there is no cassette"):
        Cassette(tmp_path / "missing", REPLAY)
    assert not (tmp_path / "missing").exists()
    with pytest.raises(CassetteFileError, match=r"cannot be opened|damaged, or no cassette"):
        Cassette(tmp_path / "no" / "folder", RECORD)


def test_a_key_is_a_function_of_the_content() -> None:
    assert key_of({"a": 1, "b": ["x"]}) == key_of({"b": ["x"], "a": 1})
    assert key_of({"a": 1}) != key_of({"a": 2})
    assert len(key_of({"a": "ä"})) == 32
