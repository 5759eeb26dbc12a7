"""Play the Dockerfile's steps without an engine, start what it starts, and see that it serves.

``python deploy/replay_image.py`` (as root, on Linux) installs on a copy of this machine's root that holds only what is
changed (an overlay), in a folder of its own. Then it starts the image's command as the image's user, on a read-only
tree with a writable ``/tmp``, without a network, on one core, and asks it. Exit code 1: a promise is broken; 2: this
machine cannot do it.

The base image is this machine with a fresh virtual environment of this Python, so what a slim image lacks may be there.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dockerfile import Image, context, read

ROOT = Path(__file__).parents[1]
TOOLS = ("unshare", "chroot", "setpriv", "taskset", "prlimit", "ip", "mount")
START_S = 30.0
"""What OpenEnv's validation, and the promise, allow from start to the first answer."""
STOP_S = 10.0
"""After which an engine kills."""
_PIDS = 256
_PYTHON = "/opt/image-python"
_PATH = f"{_PYTHON}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PASSED_ON = ("PIP_", "SSL_", "REQUESTS_", "http_proxy", "https_proxy", "no_proxy")
"""Variables by which this machine reaches its package index; only the build gets them."""


class BrokenPromiseError(Exception):
    """The image does not do what it should."""


def main() -> int:
    """Play the steps; return the exit code."""
    if len(sys.argv) > 1:
        return _inside(Path(sys.argv[1]))
    lacking = [tool for tool in TOOLS if shutil.which(tool) is None]
    if os.geteuid() or lacking:
        print(f"cannot replay the image here: {'missing ' + ', '.join(lacking) if lacking else 'root is needed'}")
        return 2
    # Not in /tmp: a tmpfs cannot hold the upper half of an overlay everywhere.
    with tempfile.TemporaryDirectory(prefix="image-", dir="/var/tmp") as folder:
        again = [sys.executable, "-P", __file__, folder]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "deploy")}
        return subprocess.run(["unshare", "--mount", "--propagation", "private", *again], env=environment).returncode


def _inside(folder: Path) -> int:
    """Do the work, in a mount namespace of its own."""
    image = read((ROOT / "Dockerfile").read_text())
    try:
        root = mounted(folder)
    except subprocess.CalledProcessError as error:
        print(f"cannot replay the image here: no overlay can be mounted: {error.stderr.decode().strip()}")
        return 2
    try:
        build(image, root)
        seal(root)
        serve(image, root)
    except BrokenPromiseError as error:
        print(f"BROKEN: {error}")
        return 1
    return 0


def mounted(folder: Path) -> Path:
    """Return a root whose changes go to ``folder``, with an empty place where this repository lies."""
    upper, work, root = (folder / name for name in ("upper", "work", "root"))
    for each in (upper, work, root):
        each.mkdir()
    _run("mount", "-t", "overlay", "overlay", "-o", f"lowerdir=/,upperdir={upper},workdir={work}", str(root))
    for name in ("proc", "dev", "sys"):
        _run("mount", "--rbind", f"/{name}", str(root / name))
    _run("mount", "-t", "tmpfs", "tmpfs", str(root / "tmp"))
    hidden = _in(root, str(ROOT))
    hidden.mkdir(parents=True, exist_ok=True)
    _run("mount", "-t", "tmpfs", "tmpfs", str(hidden))
    return root


def build(image: Image, root: Path) -> None:
    """Carry out what the image does when it is built."""
    base = Path(sys.base_prefix)
    for each in (base, *base.parents):
        # Another user must reach this Python. What changes is the copy.
        _in(root, str(each)).chmod(0o755)
    _step(root, f"{sys.base_prefix}/bin/python3 -m venv {_PYTHON}", {"PWD": "/"})
    for kind, text, variables in image.steps:
        started = time.monotonic()
        _in(root, variables["PWD"]).mkdir(parents=True, exist_ok=True)
        if kind == "COPY":
            _copy(text, root, variables["PWD"])
        else:
            _step(root, text, variables)
        print(f"{kind} {text[:60]}: {time.monotonic() - started:.1f} s", flush=True)


def seal(root: Path) -> None:
    """Let nothing be written any more but ``/tmp``."""
    _run("mount", "-o", "remount,ro", str(root))
    _run("umount", str(root / "tmp"))
    _run("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", str(root / "tmp"))


def serve(image: Image, root: Path) -> None:
    """Start the image's command and see that it keeps its promises."""
    url = f"http://127.0.0.1:{image.variables['PORT']}"
    with _started(image, root) as (process, begun):
        _told("healthy", _until(f"{url}/health", process, begun + START_S) - begun)
        _require(_asked(f"{url}/ready") == 200, "/ready does not say that it is ready")
        _told("page", _until(f"{url}/web/", process, time.monotonic() + START_S) - begun)
        opening = json.loads(_body(f"{url}/reset", {"env_id": "CART"}))
        _require(opening["observation"]["user_message"] != "", "no customer speaks")
        check = subprocess.run(_confined(image, root, image.healthcheck), env=_variables(image), capture_output=True)
        _require(check.returncode == 0, f"the image's own health check fails: {check.stderr.decode()[-500:]}")
        _require(_status_of(process)["Uid"].split()[0] == image.user.partition(":")[0], "another user runs the server")
        stopped = time.monotonic()
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_S)
        _require(process.poll() is not None, "it does not stop before an engine would kill it")
        _told("stopped", time.monotonic() - stopped)


@contextmanager
def _started(image: Image, root: Path) -> Iterator[tuple[subprocess.Popen[bytes], float]]:
    """Run the command without a network; this process joins it there, to ask it."""
    network = f"/run/netns/image-{os.getpid()}"
    Path(network).parent.mkdir(exist_ok=True)
    Path(network).touch()
    _run("unshare", f"--net={network}", "ip", "link", "set", "lo", "up")
    try:
        with open(network) as opened:
            if ctypes.CDLL(None, use_errno=True).setns(opened.fileno(), 0):
                raise BrokenPromiseError("the network's namespace cannot be entered")
        begun = time.monotonic()
        process = subprocess.Popen(
            ["taskset", "--cpu-list", _one_core(), *_confined(image, root, image.command)], env=_variables(image)
        )
        try:
            yield process, begun
        finally:
            process.kill()
            process.wait()
    finally:
        _run("umount", network)
        Path(network).unlink()


def _confined(image: Image, root: Path, command: list[str]) -> list[str]:
    """Return the command as the image's user, below its root, in its folder, without any capability."""
    user, _, group = image.user.partition(":")
    rights = ["--clear-groups", "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"]
    limited = ["prlimit", f"--nproc={_PIDS}", "setpriv", f"--reuid={user}", f"--regid={group or user}", *rights]
    entered = ["chroot", str(root), "sh", "-c", 'cd "$0" && exec "$@"', image.workdir]
    return [*entered, *limited, *command]


def _one_core() -> str:
    return str(max(os.sched_getaffinity(0)))


def _variables(image: Image) -> dict[str, str]:
    return {"PATH": _PATH, **image.variables}


def _step(root: Path, command: str, variables: Mapping[str, str]) -> None:
    """Carry out a RUN; what it prints is shown if it fails."""
    passed_on = {name: value for name, value in os.environ.items() if name.startswith(_PASSED_ON)}
    entered = ["chroot", str(root), "sh", "-c", f"cd {variables['PWD']} && {command}"]
    done = subprocess.run(entered, env={"PATH": _PATH, **passed_on, **variables}, capture_output=True, text=True)
    if done.returncode:
        raise BrokenPromiseError(f"RUN {command} failed:\n{(done.stdout + done.stderr)[-3000:]}")


def _copy(text: str, root: Path, workdir: str) -> None:
    """Carry out ``COPY . .``: the whole context into the working folder."""
    _require(text.split() == [".", "."], f"COPY {text} is not known here")
    for path in context(ROOT):
        target = _in(root, workdir) / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)


def _in(root: Path, path: str) -> Path:
    return root / path.lstrip("/")


def _until(url: str, process: subprocess.Popen[bytes], deadline: float) -> float:
    """Ask until the answer is 200; return when it was."""
    while time.monotonic() < deadline:
        _require(process.poll() is None, "the server ended")
        if _asked(url) == 200:
            return time.monotonic()
        time.sleep(0.1)
    raise BrokenPromiseError(f"no answer from {url} in time")


def _asked(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=START_S) as answer:
            return int(answer.status)
    except OSError:
        return 0


def _body(url: str, sent: Any) -> bytes:
    request = urllib.request.Request(url, json.dumps(sent).encode())
    with urllib.request.urlopen(request, timeout=START_S) as answer:
        return bytes(answer.read())


def _status_of(process: subprocess.Popen[bytes]) -> dict[str, str]:
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _require(holds: bool, promise: str) -> None:
    if not holds:
        raise BrokenPromiseError(promise)


def _told(what: str, seconds: float) -> None:
    print(f"{what} after {seconds:.1f} s", flush=True)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    sys.exit(main())
