"""Files opened for reading, unpacked where they are gzipped or zipped. What a file is decides, not its name."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, BinaryIO, cast

from ecom_rlve.catalog.errors import SourceError

HEAD_BYTES = 2**20
"""How much of a file is looked at to tell what it is; more than one product takes."""
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_OFFICE = "[Content_Types].xml"
_DATA = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".xml", ".parquet", ".gz")
_ENCRYPTED = 0x1


def opened(path: Path) -> BinaryIO:
    """Open a file, unpacked; raises ``OSError`` and what :func:`told` translates."""
    file = path.open("rb")
    try:
        return _unpacked(path, file)
    except BaseException:
        file.close()
        raise


def is_packed(path: Path) -> bool:
    """Say whether a file is gzipped or zipped; raises :class:`SourceError` where it cannot be read."""
    with told(path), path.open("rb") as file:
        return file.read(4).startswith((_GZIP, _ZIP))


def head_of(path: Path, size: int = HEAD_BYTES) -> bytes:
    """Return the first bytes of a file, unpacked; raises :class:`SourceError` where it cannot be read.

    A file that is cut off later still has its head, so that it can be told what it is.
    """
    with told(path), closing(opened(path)) as file:
        return file.read(size)


@contextmanager
def told(path: Path, line: int | None = None) -> Iterator[None]:
    """Turn what goes wrong in reading a file into a :class:`SourceError`."""
    where = str(path) if line is None else f"{path}, line {line}"
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        raise SourceError(f"{where}: the packed data is broken or cut off ({error}); fetch the file again") from error
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> SourceError:
    """Return the error for a file that the system does not let us read."""
    return SourceError(f"{path}: cannot be read ({error.strerror or error}); check the path")


def _unpacked(path: Path, file: BinaryIO) -> BinaryIO:
    magic = file.read(4)
    file.seek(0)
    if magic.startswith(_GZIP):
        return cast(BinaryIO, _Owner(cast(BinaryIO, gzip.GzipFile(fileobj=file)), file))
    if magic == _ZIP:
        archive = zipfile.ZipFile(file)
        member = archive.open(_member(path, archive))
        inner = member.read(2)
        member.seek(0)
        unzipped = gzip.GzipFile(fileobj=cast(BinaryIO, member)) if inner == _GZIP else member
        return cast(BinaryIO, _Owner(cast(BinaryIO, unzipped), file))
    return file


def _member(path: Path, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    """Return the one file of an archive that holds data."""
    infos = [info for info in archive.infolist() if not info.is_dir() and not _is_hidden(info.filename)]
    names = [info.filename for info in infos]
    if _OFFICE in names:
        raise SourceError(f"{path}: looks like a workbook or document of an office program; save the sheet as CSV")
    if len(infos) > 1:
        infos = [info for info in infos if info.filename.casefold().endswith(_DATA)]
    if len(infos) != 1:
        raise SourceError(
            f"{path}: an archive of {len(names)} files ({', '.join(names[:5])}), where one with the products is "
            f"needed; unpack it and give that file"
        )
    if infos[0].flag_bits & _ENCRYPTED:
        raise SourceError(f"{path}: the archive is locked by a password; unpack it and give the file inside")
    return infos[0]


def _is_hidden(name: str) -> bool:
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith(".")


class _Owner:
    """A stream of unpacked bytes that closes the file below it too."""

    def __init__(self, stream: IO[bytes], below: BinaryIO) -> None:
        self._stream, self._below = stream, below
        self.read, self.readline, self.readable = stream.read, stream.readline, stream.readable
        self.seek, self.tell, self.seekable = stream.seek, stream.tell, stream.seekable
        self.writable, self.flush = stream.writable, stream.flush

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return self._below.closed

    def close(self) -> None:
        """Close both."""
        self._stream.close()
        self._below.close()

    def __enter__(self) -> _Owner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
