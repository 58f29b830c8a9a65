"""Visit a place: ask a question there, attack the sandbox, and say what happened."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.places import engines, interpreters, kernels
from benchmarks.places.emulated import USER, Place
from benchmarks.places.kernels import CACHE, ROOT

_TIMEOUT_S = 300.0
_ASK = ("-m", "pyvision", "run", "--model", "offline", "--image", "examples/circles.png")
_PROGRAMS = ("setpriv", "sh", "unshare")
_ANSWER = "7"
_REFUSED = 5  # exit status
_SLOW = "did not become ready in time"  # an emulated processor on a busy machine
_QUESTION = "How many circles are in the image?"


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


def visit(place: Place, topics: Sequence[str], folder: Path) -> Outcome:
    """Ask and attack in this place."""
    try:
        python = interpreters.build(place.interpreter, folder) if place.interpreter else sys.executable
    except interpreters.InterpreterMissingError as error:
        return Outcome(place.name, place.expected, "left out", "", 0, 0, f"{error}")
    if reason := _why_left_out(place, python):
        return Outcome(place.name, place.expected, "left out", "", 0, 0, reason)
    environment = _environment(place, folder)
    out = f"{environment['TMPDIR']}/run-{uuid.uuid4().hex}"
    checks = [("-m", "sandbox", "check", "--json", "--topic", topic) for topic in place.topics or topics]
    try:
        commands = [(*_ASK, "--question", _QUESTION, "--out", out), *checks]
        asked, *checked = _run_all(place, python, commands, environment, folder)
    except kernels.KernelError as error:
        return Outcome(place.name, place.expected, "left out", "", 0, 0, f"{error}")
    if asked.returncode == _REFUSED:
        note = _last_line(asked.stderr)
        is_slow = bool(place.kernel) and _SLOW in note
        return Outcome(place.name, place.expected, "left out" if is_slow else "refused", "", 0, 0, note)
    tier, contained, attacks, note = "", 0, 0, ""
    for each in checked:
        try:
            report = json.loads(each.stdout)
        except ValueError:
            return Outcome(
                place.name, place.expected, "failed", asked.stdout.strip(), 0, 0, _last_line(each.stderr)
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


def _run_all(
    place: Place, python: str, commands: Sequence[Sequence[str]], environment: dict[str, str], folder: Path
) -> list[subprocess.CompletedProcess[str]]:
    """Run the interpreter with each of these arguments there; after a question that is refused, with no others."""
    words = [shutil.which(word) or word if word in _PROGRAMS else word for word in place.enter]
    words = [_fill(word, folder) for word in (*words, place.python.replace("{python}", python))]
    if place.kernel:
        prepare = _fill(place.prepare, folder)
        started = [[*words, *(_fill(word, folder) for word in command)] for command in commands]
        return kernels.run(place.kernel, prepare, started, environment)
    done: list[subprocess.CompletedProcess[str]] = []
    for command in commands:
        if place.container is None:
            done.append(_run([*words, *command], environment))
        else:
            container = engines.command(place.engine, ROOT, place.container, environment)
            done.append(_run([*container, *words, *command], engines.engine_environment()))
        if done[0].returncode == _REFUSED:
            break
    return done


def _run(words: Sequence[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            words,
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
    _long(folder).mkdir(parents=True, exist_ok=True)
    given = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(home),
        "TMPDIR": str(folder),
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return given | {name: _fill(value, folder) for name, value in place.variables}


def _fill(word: str, folder: Path) -> str:
    values = {
        "{python}": sys.executable,
        "{prefix}": sys.prefix,
        "{folder}": str(folder),
        "{long}": str(_long(folder)),
        "{profiles}": str(CACHE),
    }
    for name, value in values.items():
        word = word.replace(name, value)
    return word


def _long(folder: Path) -> Path:
    return folder / "a folder with spaces" / ("long" * 20)


def _why_left_out(place: Place, python: str) -> str:
    if place.needs_root and os.getuid() != 0:
        return "only root can make this place"
    if place.container is not None and (reason := engines.why_unusable(place.engine)):
        return reason
    if place.kernel and (reason := kernels.why_unusable()):
        return reason
    missing = [word for word in place.enter if word in _PROGRAMS and shutil.which(word) is None]
    if missing:
        return f"{missing[0]} is missing"
    for profile in ("{profiles}/docker.json", "{profiles}/landlock.json"):
        if profile in place.enter and not Path(_fill(profile, ROOT)).exists():
            return "its seccomp profile could not be fetched; --sources names another address of repositories"
    if place.needs_user:
        tried = subprocess.run(
            [
                *USER,
                "sh",
                "-c",
                f'"{python}" -c "import sandbox, pyvision"',
            ],  # setpriv itself keeps rights until then
            cwd=ROOT,
            capture_output=True,
            check=False,
        )
        if tried.returncode != 0:
            return f"user 1001 cannot read {python}, its packages or {ROOT}"
    return ""


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1][:300]


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
