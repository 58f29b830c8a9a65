"""The whole examination: the machine, then the endpoint as far as it answers, and the profile that comes of it."""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyvision.config.model_config import ModelConfig
from pyvision.config.profiles import Profile, endpoint_of
from pyvision.doctor.probe_client import Finding, ProbeClient, Subject, complaint, table
from pyvision.doctor.probes import NAMES, PROBES, PROTOCOL, Probe
from pyvision.errors import ModelError
from pyvision.text.prompts import load
from sandbox import IsolationError, Sandbox, SandboxError, Session

CALLS = 12
_NOT_SENT: tuple[Subject, ...] = (
    "stop",
    "temperature",
    "log probabilities",
)  # value: the name of what is not


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """All findings; `profile` is what the loop obeys, None where the endpoint said nothing."""

    model: str
    machine: tuple[Finding, ...]
    endpoint: tuple[Finding, ...]
    profile: Profile | None = None
    calls: int = 0

    @property
    def endpoint_failed(self) -> bool:
        return any(finding.subject == "reachable" and finding.verdict == "no" for finding in self.endpoint)

    @property
    def is_isolated(self) -> bool:
        return any(finding.subject == "isolation" and finding.verdict == "yes" for finding in self.machine)

    @property
    def table(self) -> str:
        """Both sections, within 80 columns."""
        told = f"model: {self.model} (calls: {self.calls})"
        return table([("machine", self.machine), (told, self.endpoint)])


# ---- What this machine has to offer: isolation, a kernel that starts, room on the disk, letters for labels.


_LITTLE_BYTES = 10**9
_SLOW_START_S = 10.0
_STARTS = 5


def check_host() -> tuple[Finding, ...]:
    """Starts some kernels, if they can be isolated."""
    return (*_isolation(), _disk(Path.cwd()))


def _isolation() -> Iterator[Finding]:
    began = time.monotonic()
    with Sandbox() as sandbox:
        try:
            session = sandbox.open()
            session.run("pass")
            first_s = time.monotonic() - began
        except IsolationError as error:
            yield Finding("isolation", "no", str(error))
            yield Finding("kernel", "not tried")
            yield Finding("CJK fonts", "not tried")
            return
        except SandboxError as error:
            yield Finding("isolation", "yes", _walls(sandbox))
            yield Finding("kernel", "no", str(error))
            yield Finding("CJK fonts", "not tried")
            return
        yield Finding("isolation", "yes", _walls(sandbox))
        yield _starts(first_s, _later_s(sandbox))
        yield _fonts(session)


def _walls(sandbox: Sandbox) -> str:
    walls = sandbox.layers()
    missing = ", ".join(f"{wall.name} ({wall.detail})" for wall in walls if not wall.is_present)
    return ", ".join(wall.name for wall in walls if wall.is_present) + (f"; not {missing}" if missing else "")


def _later_s(sandbox: Sandbox) -> float:
    """The median time to the end of a first cell, of sessions after the first."""
    return statistics.median(_session_s(sandbox) for _ in range(_STARTS))


def _session_s(sandbox: Sandbox) -> float:
    began = time.monotonic()
    with sandbox.open() as session:
        session.run("pass")
        return time.monotonic() - began


def _starts(first_s: float, later_s: float) -> Finding:
    slow = "; slow, is the machine busy?" if first_s > _SLOW_START_S else ""
    told = f"the first is ready after {first_s:.1f} s, a later one after {later_s * 1000:.0f} ms{slow}"
    return Finding("kernel", "yes", told, value=round(later_s, 3))


def _fonts(session: Session) -> Finding:
    """Whether a figure can have labels in Chinese, Japanese and Korean."""
    result = session.run(load("doctor/fonts.py"))
    if result.status != "ok":
        return Finding("CJK fonts", "unclear", f"the cell that looks for them ended in {result.status}")
    missing = result.text.strip()
    if missing:
        told = f"no letters for {missing.replace(',', ', ')}: labels show as boxes; install fonts-noto-cjk"
        return Finding("CJK fonts", "no", told)
    return Finding("CJK fonts", "yes", "letters for Chinese, Japanese and Korean")


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    told = f"{free / 1e9:,.1f} GB free in the current folder, where runs/ is kept"
    return Finding("disk", "yes" if free > _LITTLE_BYTES else "no", told, value=free)


def run_probes(
    config: ModelConfig,
    watch: Callable[[str], None],
    *,
    machine: Callable[[], tuple[Finding, ...]] = check_host,
    calls: int = CALLS,
) -> ProbeReport:
    """Look at the machine and at the model. `watch` is told what is looked at. Never raises for what fails."""
    watch("machine")
    at_home = machine()
    with closing(ProbeClient(config, calls)) as client:
        findings = tuple(_endpoint(client, watch))
    profile = _profile(config, findings) if config.wire in NAMES else None
    name = f"{config.model} at {endpoint_of(config) or config.wire}" if config.model else config.wire
    return ProbeReport(name, at_home, findings, profile, calls - client.calls_left)


def _endpoint(client: ProbeClient, watch: Callable[[str], None]) -> Iterator[Finding]:
    if client.config.wire not in NAMES:
        yield from _without_endpoint(client)
        return
    down: Sequence[Finding] = ()
    for probe in PROBES:
        if down or client.calls_left <= 0:
            why = "" if down else "the calls of this examination are spent"
            yield from (Finding(subject, "not tried", why) for subject in probe.subjects)
            continue
        watch(" and ".join(probe.subjects))
        found = _looked(probe, client)
        yield from found
        down = [finding for finding in found if finding.subject == "reachable" and finding.verdict == "no"]


def _without_endpoint(client: ProbeClient) -> Iterator[Finding]:
    """A model inside this process: rules or recorded replies."""
    for probe in PROBES:
        if probe is PROTOCOL and client.config.wire == "offline":
            yield from _looked(probe, client)
        else:
            yield from (Finding(subject, "not applicable") for subject in probe.subjects)


def _looked(probe: Probe, client: ProbeClient) -> list[Finding]:
    """What a probe finds; when the endpoint fails in the midst of it, that is the finding of the rest."""
    found: list[Finding] = []
    try:
        for finding in probe.look(client):
            found.append(finding)  # one by one: those before a failure count
    except ModelError as error:
        passing = error.retry and probe.subjects[0] != "reachable"
        rest = probe.subjects[len(found) :]
        found += [Finding(rest[0], "unclear" if passing else "no", complaint(error))]
        found += [Finding(subject, "not tried") for subject in rest[1:]]
    return found


def _profile(config: ModelConfig, findings: Sequence[Finding]) -> Profile | None:
    """What later runs go by; None where the endpoint did not answer."""
    found = {finding.subject: finding for finding in findings}
    if found["reachable"].verdict != "yes":
        return None
    value: dict[Subject, Any] = {subject: finding.value for subject, finding in found.items()}
    return Profile(
        config.wire,
        endpoint_of(config),
        config.model or "",
        refused=tuple(str(value[subject]) for subject in _NOT_SENT if value[subject] is not None),
        stream=_known(found["streams"]),
        honours_stop=_known(found["stop"]),
        pictures=value["sees many at once"],
        legible_px=value["smallest numeral"],
        boxes=value["box coordinates"],
    )


def _known(finding: Finding) -> bool | None:
    return {"yes": True, "no": False, "refused": False}.get(finding.verdict)
