"""Places in containers of a real engine: Docker, or Podman, also as an ordinary user.

Their image holds nothing: the system, the interpreter and this repository are mounted from this machine, read-only,
so that no registry is needed.
"""

from __future__ import annotations

import atexit
import io
import os
import pwd
import resource
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from sandbox.isolation.interpreter import Interpreter

_IMAGE = "pyvision-places"
_FOLDERS = ("dev", "etc", "proc", "sys", "usr")
_LINKS = ("bin", "lib", "lib64", "sbin")  # into /usr, on the systems where they are links
_START_S = 120.0
_MOST_FILES_OR_PROCESSES = 16_384


def engine_environment() -> dict[str, str]:
    """What the program of the engine needs to find its server."""
    return {name: value for name, value in os.environ.items() if name == "PATH" or name.startswith("DOCKER_")}


def command(engine: str, root: Path, options: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """The words before a command that runs in a new container without network, in the folder `root`."""
    words = [*_program(engine), "run", "--rm", "--network", "none", "--workdir", str(root)]
    if engine == "podman":
        words += _limits_of_podman()
    for folder in ("/usr", "/etc/ld.so.cache", str(root), *Interpreter.current().folders):
        words += ["--volume", f"{folder}:{folder}:ro"]
    for name in sorted(environment):
        words += ["--env", f"{name}={environment[name]}"]
    return [*words, *options, _IMAGE]


@cache
def why_unusable(engine: str) -> str:
    """Make the image; why the engine cannot, or nothing."""
    missing = [
        program for program in engine.removeprefix("rootless ").split() if shutil.which(program) is None
    ]
    if missing:
        return f"{missing[0]} is missing"
    if engine == "rootless podman" and _find_rootless_user() is None:
        return "no user but root has subordinate ids in /etc/subuid; useradd gives them to a new one"
    try:
        made = subprocess.run(
            [*_program(engine), "import", "-", _IMAGE],
            input=_archive(),
            capture_output=True,
            env=engine_environment(),
            timeout=_START_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{engine} import gave no answer within {_START_S:g} s"
    if made.returncode == 0:
        return ""
    lines = made.stderr.decode(errors="replace").strip().splitlines() or [f"exit status {made.returncode}"]
    return f"{engine} import: {lines[-1][:200]}"


def _program(engine: str) -> list[str]:
    """Podman's usual runtime, crun, refuses cgroup v1 and v2 side by side; runc does not."""
    if engine == "docker":
        return ["docker"]
    podman = ["podman", "--log-level", "error", *(("--runtime", "runc") if shutil.which("runc") else ())]
    return [*_as_rootless_user(), *podman] if engine == "rootless podman" else podman


@cache
def _as_rootless_user() -> tuple[str, ...]:
    """The words before a command that this user runs at home, with a folder for what Podman keeps while it runs."""
    user = _find_rootless_user()
    assert user is not None
    folder = tempfile.mkdtemp(prefix="podman-", dir="/tmp")
    os.chown(folder, user.pw_uid, user.pw_gid)
    ids = ("--reuid", str(user.pw_uid), "--regid", str(user.pw_gid), "--init-groups")
    variables = (f"HOME={user.pw_dir}", f"XDG_RUNTIME_DIR={folder}")
    words = ("setpriv", *ids, "env", "--chdir", user.pw_dir, *variables)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    # it ends the process that holds the user's namespaces
    atexit.register(subprocess.run, [*words, "podman", "system", "migrate"], capture_output=True, check=False)
    return words


def _find_rootless_user() -> pwd.struct_passwd | None:
    """The first user but root with subordinate ids."""
    file = Path("/etc/subuid")
    names = {line.partition(":")[0] for line in file.read_text().splitlines()} if file.exists() else set()
    return next((user for user in pwd.getpwall() if user.pw_uid and user.pw_name in names), None)


def _limits_of_podman() -> list[str]:
    """In place of its defaults, which a root without CAP_SYS_RESOURCE cannot raise to."""
    words = []
    for name, number in (("nofile", resource.RLIMIT_NOFILE), ("nproc", resource.RLIMIT_NPROC)):
        _, hard = resource.getrlimit(number)
        most = (
            _MOST_FILES_OR_PROCESSES
            if hard == resource.RLIM_INFINITY
            else min(hard, _MOST_FILES_OR_PROCESSES)
        )
        words += ["--ulimit", f"{name}={most}:{most}"]
    return words


def _archive() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for member in _members():
            archive.addfile(member)
    return buffer.getvalue()


def _members() -> Iterator[tarfile.TarInfo]:
    for name in (*_FOLDERS, "tmp"):
        member = tarfile.TarInfo(name)
        member.type, member.mode = tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755
        yield member
    for name in _LINKS:
        if Path("/", name).is_symlink():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, str(Path("/", name).readlink())
            yield member
