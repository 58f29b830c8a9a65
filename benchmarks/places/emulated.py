"""The places: each is a command that changes what this machine offers, and then runs another command."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

from benchmarks.places.kernels import APPARMOR, OUR_PROFILE

Expected: TypeAlias = Literal["bwrap", "landlock", "refused"]
USER = ("setpriv", "--reuid", "1001", "--regid", "1001", "--clear-groups")
# What Docker gives to a container by default (moby, daemon/pkg/oci/caps/defaults.go)
_DOCKER = (
    *("chown", "dac_override", "fowner", "fsetid", "kill", "setgid", "setuid", "setpcap", "net_bind_service"),
    *("net_raw", "sys_chroot", "mknod", "audit_write", "setfcap"),
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where PyVision has to run, and the tier of isolation that it should choose there.

    enter: the words before the command. python: the interpreter that runs it; interpreter: in place of this one, a kind
    of `interpreters`. container: run it in a container of this engine, with these options. kernel: on another version
    of Linux (`kernels`), after the script `prepare`. topics: the attacks, in place of the usual ones. In all of these,
    `{python}`, `{prefix}` (of the interpreter), `{folder}` (an empty one), `{long}` (one with a long path and spaces)
    and `{profiles}` are replaced.
    """

    name: str
    expected: Expected
    enter: tuple[str, ...] = ()
    needs_root: bool = True
    needs_user: bool = False
    variables: tuple[tuple[str, str], ...] = ()
    python: str = "{python}"
    interpreter: str = ""
    engine: Literal["docker", "podman", "rootless podman"] = "docker"
    container: tuple[str, ...] | None = None
    kernel: str = ""
    prepare: str = ""
    topics: tuple[str, ...] = ()


def _shell(script: str) -> tuple[str, ...]:
    return ("sh", "-c", f'{script} && exec "$@"', "sh")


def _profile(name: str, capabilities: tuple[str, ...], *options: str) -> tuple[str, ...]:
    """Under a seccomp profile and with no other capabilities than these; `options` of setpriv."""
    bounding = ",".join(("-all", *(f"+{each}" for each in capabilities)))
    load = ("{python}", "-m", "benchmarks.places", "--profile", f"{{profiles}}/{name}.json")
    return (
        *load,
        "--capabilities",
        ",".join(capabilities),
        "--",
        "setpriv",
        "--bounding-set",
        bounding,
        *options,
    )


_MOUNTS = ("unshare", "--mount", "--propagation", "private")
_NO_BUBBLEWRAP = (("PATH", "/nowhere"),)
_ONLY_TMP = (("HOME", "/tmp"), ("XDG_CACHE_HOME", "/tmp/cache"), ("TMPDIR", "/tmp"))
_IN_TMP = (("HOME", "/tmp"), ("TMPDIR", "/tmp"))
_UNCONFINED = tuple(f"--security-opt={each}=unconfined" for each in ("seccomp", "apparmor", "systempaths"))
_RESTRICTED = (
    "--read-only",
    "--tmpfs=/tmp:size=2g,mode=1777",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
)
_UNCONFINED_PODMAN = ("--security-opt=seccomp=unconfined", "--security-opt=unmask=ALL")
# Which interpreter it is matters to the start of a session and to what a cell may read: one topic
_WITH = partial(Place, topics=("environment",))
_WITHOUT_BUBBLEWRAP = partial(_WITH, expected="landlock", variables=_NO_BUBBLEWRAP)
_INTERPRETERS = (
    _WITH("a virtual environment of Debian's python3", "bwrap", interpreter="Debian", needs_root=False),
    _WITHOUT_BUBBLEWRAP("the same without bubblewrap", interpreter="Debian", needs_root=False),
    _WITH("an environment of uv, an ordinary user", "bwrap", USER, interpreter="uv", needs_user=True),
    _WITHOUT_BUBBLEWRAP("uv without bubblewrap", enter=USER, interpreter="uv", needs_user=True),
    _WITH("a prefix like conda's, of an ordinary user", "bwrap", USER, interpreter="conda", needs_user=True),
    _WITHOUT_BUBBLEWRAP("conda without bubblewrap", enter=USER, interpreter="conda", needs_user=True),
    _WITH("a shim like pyenv's, root", "bwrap", interpreter="pyenv"),
    _WITHOUT_BUBBLEWRAP("pyenv without bubblewrap", enter=USER, interpreter="pyenv", needs_user=True),
)
# On another kernel, which is slow: one topic. Root reads the system there, so that it is the user who is ordinary.
_ON_KERNEL = partial(Place, needs_root=False, needs_user=True, variables=_IN_TMP, topics=("environment",))
_OTHER_KERNELS = (
    _ON_KERNEL("Linux 5.10 of Debian 11, root", "bwrap", kernel="Debian 11"),
    _ON_KERNEL(
        "Linux 5.10 of Debian 11, an ordinary user without bubblewrap",
        "refused",
        USER,
        variables=(*_NO_BUBBLEWRAP, *_IN_TMP),
        kernel="Debian 11",
    ),
    _ON_KERNEL("Linux 5.15 of Ubuntu 22.04, an ordinary user", "bwrap", USER, kernel="Ubuntu 22.04"),
    _ON_KERNEL(
        "Linux 5.15 of Ubuntu 22.04, an ordinary user without bubblewrap (Landlock ABI 1)",
        "landlock",
        USER,
        variables=(*_NO_BUBBLEWRAP, *_IN_TMP),
        kernel="Ubuntu 22.04",
    ),
    _ON_KERNEL(
        "Linux 6.1 of Debian 12 with cgroup v2, root",
        "bwrap",
        kernel="Debian 12",
        topics=("environment", "session_memory"),
    ),
    _ON_KERNEL(
        "Linux 6.1 of Debian 12 with cgroup v2 of its own, an ordinary user",
        "bwrap",
        USER,
        kernel="Debian 12",
        topics=("environment", "session_memory"),
    ),
    _ON_KERNEL(
        "Linux 6.8 of Ubuntu 24.04 with AppArmor's restriction, an ordinary user",
        "landlock",
        USER,
        kernel="Ubuntu 24.04",
        prepare=APPARMOR,
    ),
    _ON_KERNEL(
        "Ubuntu 24.04 after `sandbox apparmor`, an ordinary user",
        "bwrap",
        USER,
        kernel="Ubuntu 24.04",
        prepare=APPARMOR + OUR_PROFILE,
    ),
    _ON_KERNEL(
        "Linux 6.12 of Debian 13, an ordinary user without bubblewrap (Landlock ABI 6)",
        "landlock",
        USER,
        variables=(*_NO_BUBBLEWRAP, *_IN_TMP),
        kernel="Debian 13",
    ),
)
PLACES = (
    Place("this machine", "bwrap", needs_root=False),
    Place("an ordinary user without subordinate ids", "bwrap", USER, needs_user=True),
    Place("no bubblewrap", "landlock", needs_root=False, variables=_NO_BUBBLEWRAP),
    Place("no bubblewrap, an ordinary user", "landlock", USER, needs_user=True, variables=_NO_BUBBLEWRAP),
    Place("no bubblewrap and no Landlock", "refused", _profile("landlock", ()), variables=_NO_BUBBLEWRAP),
    Place("Docker's default profile and capabilities, root", "landlock", _profile("docker", _DOCKER)),
    Place(
        "Docker's default profile, an ordinary user",
        "landlock",
        _profile("docker", _DOCKER, *USER[1:]),
        needs_user=True,
    ),
    Place(  # it does not allow pivot_root, which bubblewrap needs
        "the same with CAP_SYS_ADMIN, root", "landlock", _profile("docker", (*_DOCKER, "sys_admin"))
    ),
    Place(
        "like a restricted Kubernetes pod",
        "landlock",
        (
            *_MOUNTS,
            *_shell(
                "mount -t tmpfs none /tmp && mount -t tmpfs none /sys/fs/cgroup && mount -o remount,bind,ro /"
            ),
            *_profile("docker", (), *USER[1:], "--no-new-privs"),
        ),
        needs_user=True,
        variables=_ONLY_TMP,
    ),
    Place(
        "no namespaces below a user namespace of ours",
        "landlock",
        ("unshare", "--user", "--map-root-user", *_shell("echo 0 > /proc/sys/user/max_user_namespaces")),
    ),
    Place("no_new_privs", "bwrap", ("setpriv", "--no-new-privs", *USER[1:]), needs_user=True),
    Place("no /sys/fs/cgroup", "bwrap", (*_MOUNTS, *_shell("mount -t tmpfs none /sys/fs/cgroup"))),
    Place(
        "cgroup v2 alone, without controllers",
        "bwrap",
        (*_MOUNTS, *_shell("umount -R /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup")),
    ),
    Place(
        "a file system that is read-only but for /tmp",
        "bwrap",
        (*_MOUNTS, *_shell("mount -t tmpfs none /tmp && mount -o remount,bind,ro /")),
        variables=_ONLY_TMP[1:],
    ),
    Place(
        "an environment on another file system, in a path with spaces",
        "bwrap",
        (
            *_MOUNTS,
            *_shell(
                "(mkdir -p '{folder}/an environment' && mount -t tmpfs none '{folder}/an environment' && "
                "cd '{folder}/an environment' && mkdir upper work venv && "
                "mount -t overlay -o 'lowerdir={prefix},upperdir=upper,workdir=work' overlay venv)"
            ),
        ),
        python="{folder}/an environment/venv/bin/python",
    ),
    Place(
        "a TMPDIR with a long path and spaces", "bwrap", needs_root=False, variables=(("TMPDIR", "{long}"),)
    ),
    Place(
        "a /tmp of 8 MiB",
        "bwrap",
        (*_MOUNTS, *_shell("mount -t tmpfs -o size=8m none /tmp")),
        variables=_IN_TMP,
    ),
    Place(
        "processes of others hidden (hidepid)",
        "bwrap",
        (*_MOUNTS, *_shell("mount -t proc -o hidepid=2 proc /proc"), *USER),
        needs_user=True,
    ),
    Place("Docker itself, root", "landlock", container=("--user=0",), needs_root=False, variables=_IN_TMP),
    Place(
        "Docker itself, an ordinary user",
        "landlock",
        container=("--user=10001",),
        needs_root=False,
        variables=_IN_TMP,
    ),
    Place(
        "Docker itself, restricted",
        "landlock",
        container=("--user=10001", *_RESTRICTED),
        needs_root=False,
        variables=_IN_TMP,
    ),
    Place(
        "Docker itself, unconfined",
        "bwrap",
        container=("--user=10001", *_UNCONFINED),
        needs_root=False,
        variables=_IN_TMP,
    ),
    Place(
        "Docker itself, unconfined, root with both capabilities",
        "bwrap",
        container=("--user=0", "--cap-add=SYS_ADMIN", "--cap-add=SYS_PTRACE", *_UNCONFINED),
        needs_root=False,
        variables=_IN_TMP,
    ),
    Place(
        "Podman, root",
        "landlock",
        engine="podman",
        container=("--user=0",),
        variables=_IN_TMP,
    ),
    Place(
        "Podman, an ordinary user",
        "landlock",
        engine="podman",
        container=("--user=10001",),
        variables=_IN_TMP,
    ),
    Place(
        "Podman, restricted",
        "landlock",
        engine="podman",
        container=("--user=10001", *_RESTRICTED),
        variables=_IN_TMP,
    ),
    Place(
        "Podman, unconfined",
        "bwrap",
        engine="podman",
        container=("--user=10001", *_UNCONFINED_PODMAN),
        variables=_IN_TMP,
    ),
    Place(
        "Podman without root, root in it",
        "landlock",
        engine="rootless podman",
        needs_user=True,
        container=("--user=0",),
        variables=_IN_TMP,
    ),
    Place(
        "Podman without root, restricted",
        "landlock",
        engine="rootless podman",
        needs_user=True,
        container=("--user=10001", *_RESTRICTED),
        variables=_IN_TMP,
    ),
    Place(
        "Podman without root, unconfined",
        "bwrap",
        engine="rootless podman",
        needs_user=True,
        container=("--user=10001", *_UNCONFINED_PODMAN),
        variables=_IN_TMP,
    ),
    *_INTERPRETERS,
    *_OTHER_KERNELS,
)
