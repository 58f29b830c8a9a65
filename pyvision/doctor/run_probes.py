"""All checks in order: the machine (isolation, kernel, fonts, disk), the endpoint, and the profile that results."""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyvision.config.endpoints import Profile, endpoint_of
from pyvision.config.model_config import ModelConfig
from pyvision.doctor.probe_client import ProbeClient, ProbeFinding, Subject, complaint, table
from pyvision.doctor.probes import NAMES, PROBES, PROTOCOL, Probe
from pyvision.errors import ModelError
from pyvision.text.prompts import load
from sandbox import IsolationError, Sandbox, SandboxError, Session

CALLS = 14
_PARAMETERS: tuple[Subject, ...] = (
    "stop",
    "temperature",
    "log probabilities",
    "reasoning",
)  # value: the name, if refused
_MIN_FREE_BYTES = 10**9
_SLOW_START_S = 10.0
_STARTS = 5


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """All findings, and the profile for later runs; None if the endpoint did not reply."""

    model: str
    machine: tuple[ProbeFinding, ...]
    endpoint: tuple[ProbeFinding, ...]
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
        title = f"model: {self.model} (calls: {self.calls})"
        return table([("machine", self.machine), (title, self.endpoint)])


def check_host() -> tuple[ProbeFinding, ...]:
    """Starts a few kernels, if they can be isolated."""
    return (*_isolation(), _disk(Path.cwd()))


def run_probes(
    config: ModelConfig,
    watch: Callable[[str], None],
    *,
    machine: Callable[[], tuple[ProbeFinding, ...]] = check_host,
    calls: int = CALLS,
) -> ProbeReport:
    """Check machine and endpoint. `watch` gets the name of each check. A failure is a finding, not an exception."""
    watch("machine")
    on_machine = machine()
    with closing(ProbeClient(config, calls)) as client:
        findings = tuple(_endpoint(client, watch))
    profile = _profile(config, findings) if config.wire in NAMES else None
    name = f"{config.model} at {endpoint_of(config) or config.wire}" if config.model else config.wire
    return ProbeReport(name, on_machine, findings, profile, calls - client.calls_left)


def _isolation() -> Iterator[ProbeFinding]:
    began = time.monotonic()
    with Sandbox() as sandbox:
        try:
            session = sandbox.open()
            session.run("pass")
            first_s = time.monotonic() - began
        except IsolationError as error:
            yield ProbeFinding("isolation", "no", str(error))
            yield ProbeFinding("kernel", "not tried")
            yield ProbeFinding("CJK fonts", "not tried")
            return
        except SandboxError as error:
            yield ProbeFinding("isolation", "yes", _describe_isolation(sandbox))
            yield ProbeFinding("kernel", "no", str(error))
            yield ProbeFinding("CJK fonts", "not tried")
            return
        yield ProbeFinding("isolation", "yes", _describe_isolation(sandbox))
        yield _starts(first_s, _later_s(sandbox))
        yield _fonts(session)


def _describe_isolation(sandbox: Sandbox) -> str:
    tier, *layers = sandbox.layers()
    present = ", ".join(layer.name for layer in layers if layer.is_present)
    missing = ", ".join(f"{layer.name} ({layer.detail})" for layer in layers if not layer.is_present)
    return "; ".join([tier.detail, f"in force: {present}", *([f"not: {missing}"] if missing else [])])


def _later_s(sandbox: Sandbox) -> float:
    """The median time until a first cell has run, in sessions after the first."""
    return statistics.median(_session_s(sandbox) for _ in range(_STARTS))


def _session_s(sandbox: Sandbox) -> float:
    began = time.monotonic()
    with sandbox.open() as session:
        session.run("pass")
        return time.monotonic() - began


def _starts(first_s: float, later_s: float) -> ProbeFinding:
    slow = "; this is slow, the machine may be busy" if first_s > _SLOW_START_S else ""
    detail = f"the first is ready after {first_s:.1f} s, a later one after {later_s * 1000:.0f} ms{slow}"
    return ProbeFinding("kernel", "yes", detail, value=round(later_s, 3))


def _fonts(session: Session) -> ProbeFinding:
    """Whether figures can have labels in Chinese, Japanese and Korean."""
    result = session.run(load("doctor/fonts.py"))
    if result.status != "ok":
        return ProbeFinding(
            "CJK fonts", "unclear", f"the cell that checks for them ended with status {result.status}"
        )
    missing = result.text.strip()
    if missing:
        languages = missing.replace(",", ", ")
        detail = f"no characters for {languages}: labels show as boxes; install fonts-noto-cjk"
        return ProbeFinding("CJK fonts", "no", detail)
    return ProbeFinding("CJK fonts", "yes", "characters for Chinese, Japanese and Korean")


def _disk(folder: Path) -> ProbeFinding:
    free = shutil.disk_usage(folder).free
    detail = f"{free / 1e9:,.1f} GB free in the current folder, which holds runs/"
    return ProbeFinding("disk", "yes" if free > _MIN_FREE_BYTES else "no", detail, value=free)


def _endpoint(client: ProbeClient, watch: Callable[[str], None]) -> Iterator[ProbeFinding]:
    if client.config.wire not in NAMES:
        yield from _without_endpoint(client)
        return
    down: Sequence[ProbeFinding] = ()
    for probe in PROBES:
        if down or client.calls_left <= 0:
            why = "" if down else "the budget of calls is used up"
            yield from (ProbeFinding(subject, "not tried", why) for subject in probe.subjects)
            continue
        watch(" and ".join(probe.subjects))
        found = _run_probe(probe, client)
        yield from found
        down = [finding for finding in found if finding.subject == "reachable" and finding.verdict == "no"]


def _without_endpoint(client: ProbeClient) -> Iterator[ProbeFinding]:
    """A model in this process: rules or recorded replies."""
    for probe in PROBES:
        if probe is PROTOCOL and client.config.wire == "offline":
            yield from _run_probe(probe, client)
        else:
            yield from (ProbeFinding(subject, "not applicable") for subject in probe.subjects)


def _run_probe(probe: Probe, client: ProbeClient) -> list[ProbeFinding]:
    """The findings of a probe; a failure of the endpoint becomes the finding of the lines that are left."""
    found: list[ProbeFinding] = []
    try:
        for finding in probe.find(client):
            found.append(finding)  # one at a time, to keep those before a failure
    except ModelError as error:
        is_temporary = error.retry and probe.subjects[0] != "reachable"
        rest = probe.subjects[len(found) :]
        found += [ProbeFinding(rest[0], "unclear" if is_temporary else "no", complaint(error))]
        found += [ProbeFinding(subject, "not tried") for subject in rest[1:]]
    return found


def _profile(config: ModelConfig, findings: Sequence[ProbeFinding]) -> Profile | None:
    """What later runs use; None if the endpoint did not reply."""
    found = {finding.subject: finding for finding in findings}
    if found["reachable"].verdict != "yes":
        return None
    value: dict[Subject, Any] = {subject: finding.value for subject, finding in found.items()}
    return Profile(
        config.wire,
        endpoint_of(config),
        config.model or "",
        refused=tuple(str(value[subject]) for subject in _PARAMETERS if value[subject] is not None),
        stream=_as_flag(found["streams"]),
        honours_stop=_as_flag(found["stop"]),
        pictures=value["sees many at once"],
        legible_px=value["smallest numeral"],
        boxes=value["box coordinates"],
        calls_tools=_as_flag(found["calls tools"]),
        image_placement=value["pictures in results"],
    )


def _as_flag(finding: ProbeFinding) -> bool | None:
    return {"yes": True, "no": False, "refused": False}.get(finding.verdict)
