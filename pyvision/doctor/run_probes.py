"""The whole examination: the machine, then the endpoint as far as it answers, and the profile that comes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from pyvision.config.endpoints import Profile, endpoint_of
from pyvision.config.model_config import ModelConfig
from pyvision.doctor.findings import Finding, Subject, table
from pyvision.doctor.host_checks import check_host
from pyvision.doctor.parameters import NAMES
from pyvision.doctor.probe_client import ProbeClient, complaint
from pyvision.doctor.probes import PROBES, PROTOCOL, Probe
from pyvision.errors import ModelError

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
