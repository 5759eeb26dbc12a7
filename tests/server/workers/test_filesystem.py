"""A store on a network file system is refused, whatever else is mounted."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.server.store.errors import StoreError
from ecom_rlve.server.workers.filesystem import require_local

MOUNTS = """\
/dev/sda1 / ext4 rw,relatime 0 0
tmpfs /scratch tmpfs rw 0 0
server:/data /data nfs4 rw,vers=4.2 0 0
/dev/sdb1 /data/local xfs rw 0 0
//nas/share /mnt/my\\040share cifs rw 0 0
"""


@pytest.mark.parametrize("path", ["/var/lib/store.sqlite3", "/scratch/s", "/data/local/s", "/database/s", "/mnt/s"])
def test_a_disk_of_this_machine_is_allowed(path: str) -> None:
    require_local(Path(path), MOUNTS)


@pytest.mark.parametrize(("path", "kind"), [("/data/far/new/s", "nfs4"), ("/mnt/my share/s", "cifs")])
def test_a_network_file_system_is_refused_with_its_name(path: str, kind: str) -> None:
    with pytest.raises(StoreError, match=rf"network file system \({kind}\).*ECOM_RLVE_STORE"):
        require_local(Path(path), MOUNTS)


def test_the_last_mount_at_a_place_counts() -> None:
    over = "server:/x / nfs rw 0 0\n/dev/sda1 / ext4 rw 0 0\n"
    require_local(Path("/store"), over)


@given(st.text())
def test_nothing_is_known_where_the_system_tells_nonsense(text: str) -> None:
    require_local(Path("/store"), text.replace("nfs", ""))


def test_this_machine_can_be_asked(tmp_path: Path) -> None:
    require_local(tmp_path / "store.sqlite3")
