"""A journal holds whole lines only, whatever happens to the process, the disk or the folder."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ecom_rlve.evaluation.judging.errors import OutputError
from ecom_rlve.evaluation.judging.journal import Journal, whole_lines, write_whole

LINES = ["one", '{"two": "\u2028 zwei"}', "x" * 70_000]
ON_A_SMALL_DISK = """
import resource, sys
from pathlib import Path
from ecom_rlve.evaluation.judging.errors import OutputError
from ecom_rlve.evaluation.judging.journal import Journal
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
with Journal(Path(sys.argv[1])) as journal:
    try:
        for number in range(100):
            journal.append(str(number) * 30)
    except OutputError as error:
        print(error)
"""


def read(path: Path) -> list[str]:
    return [line for _, line in whole_lines(path)]


def test_lines_are_there_after_they_were_appended(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    with Journal(path) as journal:
        for at, line in enumerate(LINES, 1):
            journal.append(line)
            assert read(path) == LINES[:at]
    with Journal(path) as journal:
        assert journal.torn == 0
        journal.append("more")
    assert read(path) == [*LINES, "more"]


@pytest.mark.parametrize("cut", [1, 2, 4, 5, 15, 70_000, 70_020, 70_025])
def test_a_torn_line_is_dropped_and_nothing_else(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "lines.jsonl"
    with Journal(path) as journal:
        for line in LINES:
            journal.append(line)
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    left = whole[:-cut].count(b"\n")
    assert read(path) == LINES[:left]
    with Journal(path) as journal:
        assert journal.torn == len(whole) - cut - sum(len(line.encode()) + 1 for line in LINES[:left])
        journal.append("after")
    assert read(path) == [*LINES[:left], "after"]


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    with Journal(tmp_path / "a") as journal:
        journal.append("first")
        with pytest.raises(OutputError, match="another run is writing"):
            Journal(tmp_path / "a")
    with Journal(tmp_path / "a") as journal:
        journal.append("second")
    assert read(tmp_path / "a") == ["first", "second"]


def test_a_full_disk_leaves_what_is_there_intact(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    done = subprocess.run([sys.executable, "-c", ON_A_SMALL_DISK, str(path)], capture_output=True, text=True)
    assert done.stdout == f"{path} cannot be written: File too large; what it holds is intact\n", done.stderr
    lines = read(path)
    assert lines == [str(number) * 30 for number in range(len(lines))]
    assert path.read_bytes().endswith(b"\n")
    assert 900 < path.stat().st_size <= 1000


def test_a_deleted_or_replaced_file_is_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    with Journal(folder / "a") as journal:
        journal.append("kept")
        shutil.rmtree(folder)
        with pytest.raises(OutputError, match="was deleted while the run went on"):
            journal.append("lost")
        folder.mkdir()
        (folder / "a").write_text("somebody else's\n")
        with pytest.raises(OutputError, match="was replaced while the run went on"):
            journal.append("lost")
    assert read(folder / "a") == ["somebody else's"]


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="Not a directory"):
        Journal(tmp_path / "file" / "a")
    with pytest.raises(OutputError, match="No such file"):
        write_whole(tmp_path / "gone" / "config.json", "text")


def test_whole_files_are_replaced_at_once(tmp_path: Path) -> None:
    write_whole(tmp_path / "config.json", "old")
    write_whole(tmp_path / "config.json", "new")
    assert [path.name for path in tmp_path.iterdir()] == ["config.json"]
    assert (tmp_path / "config.json").read_text() == "new"
