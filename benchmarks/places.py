"""Emulate the places where PyVision has to run, ask a question in each, and attack the sandbox there.

    python -m benchmarks.places [--only WORD] [--json] [--topics environment,memory,network]

A place is a command that changes what this machine offers and then runs another command. For each: the tier of
isolation that was chosen, whether the question of `make run` was answered, and how many attacks were contained. The
exit status is 1 if a place has another tier than expected, does not answer, or contains fewer attacks than all.
Most places need root; where an ordinary user (1001) cannot read the interpreter, theirs are left out with that reason.
Not covered: other versions of Linux, other architectures, AppArmor, a real container engine.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, TypeAlias

ROOT = Path(__file__).resolve().parents[1]
Expected: TypeAlias = Literal["bwrap", "landlock", "refused"]
_TIMEOUT_S = 300.0
_USER = ("setpriv", "--reuid", "1001", "--regid", "1001", "--clear-groups")
# What Docker gives to a container by default
_DOCKER_CAPABILITIES = (
    "-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+net_raw,"
    "+sys_chroot,+mknod,+audit_write,+setfcap"
)
_CLONE_NEW = 0x7E020000  # CLONE_NEWNS and the other namespaces, as Docker's default profile masks them
# What that profile refuses without CAP_SYS_ADMIN, of the calls that have to do with namespaces and mounts
_DOCKER_REFUSED = (
    "mount umount2 pivot_root unshare setns fsopen fsmount fsconfig move_mount open_tree mount_setattr"
)
_ASK = ("-m", "pyvision", "run", "--model", "offline", "--image", "examples/circles.png")
_PROGRAMS = ("setpriv", "sh", "unshare")
_ANSWER = "7"
_QUESTION = "How many circles are in the image?"


@dataclass(frozen=True, slots=True)
class Place:
    """`enter`: the words before the command; `{python}` and `{folder}` are replaced. `needs_user`: user 1001."""

    name: str
    expected: Expected
    enter: tuple[str, ...] = ()
    needs_root: bool = True
    needs_user: bool = False
    variables: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happened in a place. tier: what was chosen, or `refused`. note: why, in one line."""

    place: str
    expected: str
    tier: str
    answer: str
    contained: int
    attacks: int
    note: str = ""

    @property
    def is_good(self) -> bool:
        if self.tier == "left out":
            return True
        works = self.tier == "refused" or (self.answer == _ANSWER and self.contained == self.attacks > 0)
        return self.tier == self.expected and works


def _shell(script: str) -> tuple[str, ...]:
    return ("sh", "-c", script, "sh")


def _filter(name: str) -> tuple[str, ...]:
    return ("{python}", "-m", "benchmarks.places", "--filter", name, "--")


_MOUNTS = ("unshare", "--mount", "--propagation", "private")
PLACES = (
    Place("this machine", "bwrap", needs_root=False),
    Place("an ordinary user without subordinate ids", "bwrap", _USER, needs_user=True),
    Place("no bubblewrap", "landlock", needs_root=False, variables=(("PATH", "/nowhere"),)),
    Place(
        "no bubblewrap, an ordinary user",
        "landlock",
        _USER,
        needs_user=True,
        variables=(("PATH", "/nowhere"),),
    ),
    Place("no bubblewrap and no Landlock", "refused", _filter("landlock"), variables=(("PATH", "/nowhere"),)),
    Place(
        "Docker's default filter and capabilities, root",
        "landlock",
        (*_filter("docker"), "setpriv", "--bounding-set", _DOCKER_CAPABILITIES, "--"),
    ),
    Place(
        "Docker's default filter, an ordinary user", "landlock", (*_filter("docker"), *_USER), needs_user=True
    ),
    Place(
        "no namespaces below a user namespace of ours",
        "landlock",
        (
            "unshare",
            "--user",
            "--map-root-user",
            *_shell('echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'),
        ),
    ),
    Place("no_new_privs", "bwrap", ("setpriv", "--no-new-privs", *_USER[1:]), needs_user=True),
    Place(
        "no /sys/fs/cgroup", "bwrap", (*_MOUNTS, *_shell('mount -t tmpfs none /sys/fs/cgroup && exec "$@"'))
    ),
    Place(
        "a file system that is read-only but for /tmp",
        "bwrap",
        (*_MOUNTS, *_shell('mount -t tmpfs none /tmp && mount -o remount,bind,ro / && exec "$@"')),
        variables=(("XDG_CACHE_HOME", "/tmp/cache"), ("TMPDIR", "/tmp")),
    ),
    Place(
        "like a restricted Kubernetes pod",
        "landlock",
        (
            *_MOUNTS,
            *_shell(
                "mount -t tmpfs none /tmp && mount -t tmpfs none /sys/fs/cgroup && "
                'mount -o remount,bind,ro / && exec "$@"'
            ),
            *_filter("docker"),
            *_USER,
            "--no-new-privs",
            "--bounding-set",
            "-all",
        ),
        needs_user=True,
        variables=(("HOME", "/tmp"), ("XDG_CACHE_HOME", "/tmp/cache"), ("TMPDIR", "/tmp")),
    ),
    Place(
        "a TMPDIR with a long path and spaces", "bwrap", needs_root=False, variables=(("TMPDIR", "{long}"),)
    ),
    Place(
        "a /tmp of 8 MiB",
        "bwrap",
        (*_MOUNTS, *_shell('mount -t tmpfs -o size=8m none /tmp && exec "$@"')),
        variables=(("HOME", "/tmp"), ("TMPDIR", "/tmp")),
    ),
    Place(
        "processes of others hidden (hidepid)",
        "bwrap",
        (*_MOUNTS, *_shell('mount -t proc -o hidepid=2 proc /proc && exec "$@"'), *_USER),
        needs_user=True,
    ),
)


def visit(place: Place, topics: Sequence[str], folder: Path) -> Outcome:
    """Ask and attack in this place."""
    if reason := _why_left_out(place):
        return Outcome(place.name, place.expected, "left out", "", 0, 0, reason)
    environment = _environment(place, folder)
    out = f"{environment['TMPDIR']}/run-{uuid.uuid4().hex}"
    asked = _run(place, (*_ASK, "--question", _QUESTION, "--out", out), environment)
    if asked.returncode == 5:
        return Outcome(place.name, place.expected, "refused", "", 0, 0, _last_line(asked.stderr))
    tier, contained, attacks, note = "", 0, 0, ""
    for topic in topics:
        checked = _run(place, ("-m", "sandbox", "check", "--json", "--topic", topic), environment)
        try:
            report = json.loads(checked.stdout)
        except ValueError:
            return Outcome(
                place.name, place.expected, "failed", asked.stdout.strip(), 0, 0, _last_line(checked.stderr)
            )
        contained, attacks = contained + report["contained"], attacks + len(report["attacks"])
        detail = next(layer["detail"] for layer in report["layers"] if layer["name"] == "tier")
        tier = detail.partition(":")[0]
        escaped = ", ".join(report["escaped"])
        note = f"{note} {escaped}".strip()
    answer = asked.stdout.strip()
    return Outcome(
        place.name,
        place.expected,
        tier,
        answer,
        contained,
        attacks,
        note or ("" if asked.returncode == 0 else _last_line(asked.stderr)),
    )


def _run(
    place: Place, arguments: Sequence[str], environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    words = [shutil.which(word) or word if word in _PROGRAMS else word for word in place.enter]
    words = [word.replace("{python}", sys.executable) for word in words]
    try:
        return subprocess.run(
            [*words, sys.executable, *arguments],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess([], -1, "", f"it hung for {_TIMEOUT_S:g} s")


def _environment(place: Place, folder: Path) -> dict[str, str]:
    home = Path("/tmp") if place.needs_user and "HOME" in dict(place.variables) else folder
    long = folder / "a folder with spaces" / ("long" * 20)
    long.mkdir(parents=True, exist_ok=True)
    given = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(home),
        "TMPDIR": str(folder),
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    names = {"{folder}": str(folder), "{long}": str(long)}
    return given | {name: names.get(value, value) for name, value in place.variables}


def _why_left_out(place: Place) -> str:
    if place.needs_root and os.getuid() != 0:
        return "only root can make this place"
    missing = [word for word in place.enter if word in _PROGRAMS and shutil.which(word) is None]
    if missing:
        return f"{missing[0]} is missing"
    if place.needs_user:
        tried = subprocess.run(
            [*_USER, sys.executable, "-c", "import sandbox, pyvision"],
            cwd=ROOT,
            capture_output=True,
            check=False,
        )
        if tried.returncode != 0:
            return f"user 1001 cannot read {sys.executable}, its packages or {ROOT}"
    return ""


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1][:300]


def enter_filter(name: str, command: Sequence[str]) -> None:
    """Load a seccomp filter as a container engine would, and run the command under it."""
    import errno

    import pyseccomp as seccomp

    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    rules.set_attr(seccomp.Attr.CTL_NNP, 0)
    refused = seccomp.ERRNO(errno.EPERM)
    if name == "landlock":
        for number in (444, 445, 446):
            rules.add_rule(seccomp.ERRNO(errno.ENOSYS), number)
    else:
        for call in _DOCKER_REFUSED.split():
            rules.add_rule(refused, call)
        for bit in range(32):
            if _CLONE_NEW >> bit & 1:
                rules.add_rule(refused, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, 1 << bit, 1 << bit))
        rules.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
    rules.load()
    os.execvp(command[0], list(command))


def format_table(outcomes: Sequence[Outcome]) -> str:
    """A table in Markdown, which docs/deploy.md holds."""
    lines = ["| place | tier | question | attacks contained |", "|---|---|---|---|"]
    for each in outcomes:
        ratio = f"{each.contained} of {each.attacks}" if each.attacks else "–"
        answered = "answered" if each.answer else each.note or "–"
        lines.append(f"| {each.place} | {each.tier} | {answered} | {ratio} |")
        if each.attacks and not each.is_good:
            lines.append(f"|  | expected {each.expected} | {each.answer} {each.note} |  |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Visit the places one after another."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.places", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="WORD", help="places with this word in their name")
    parser.add_argument("--topics", default="environment,memory,network", help="the attacks to try")
    parser.add_argument("--json", action="store_true", help="print one JSON object per place")
    parser.add_argument("--filter", choices=("docker", "landlock"), help=argparse.SUPPRESS)
    parser.add_argument("command", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.filter:
        enter_filter(options.filter, options.command)
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="places-", dir="/tmp") as folder:
        Path(folder).chmod(0o777)
        for place in PLACES:
            if options.only in place.name:
                print(f"{place.name} …", file=sys.stderr)
                outcomes.append(visit(place, options.topics.split(","), Path(folder)))
                if options.json:
                    print(json.dumps(asdict(outcomes[-1])), flush=True)
    if not options.json:
        print(format_table(outcomes))
    return 0 if all(each.is_good for each in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
