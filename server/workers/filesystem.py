"""Whether a file lies on a disk of this machine: SQLite's locks and shared memory do not reach over a network."""

from __future__ import annotations

from pathlib import Path

from ecom_rlve.server.store.errors import StoreError

_MOUNTS = Path("/proc/self/mounts")
_OVER_A_NETWORK = (
    *("nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "glusterfs", "lustre", "beegfs", "gpfs", "ncpfs"),
    *("9p", "virtiofs", "fuse.sshfs", "fuse.s3fs", "fuse.gcsfuse", "fuse.glusterfs", "fuse.ceph", "fuse.rclone"),
)


def require_local(path: Path, mounts: str | None = None) -> None:
    """Raise ``StoreError`` where a store lies on a network file system; where a system does not tell, nothing is known.

    ``mounts`` is what the system says of its file systems, for tests.
    """
    if mounts is None:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape") if _MOUNTS.exists() else ""
    kind = _kind(path.absolute().parent, mounts)
    if kind in _OVER_A_NETWORK:
        raise StoreError(
            f"the store {path} lies on a network file system ({kind}), which several workers cannot share; name a file "
            "on a disk of this machine by ECOM_RLVE_STORE, or serve with one worker"
        )


def _kind(folder: Path, mounts: str) -> str:
    """Return the kind of file system that holds a folder, which need not exist yet; empty where nothing is known."""
    kind, longest = "", -1
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        # Blanks in paths are written as octal numbers.
        at = Path(fields[1].replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\"))
        # A later line hides an earlier one at the same place.
        if folder.is_relative_to(at) and len(at.parts) >= longest:
            kind, longest = fields[2], len(at.parts)
    return kind
