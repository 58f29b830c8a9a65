"""What the doctor says of this machine, with a real kernel."""

from __future__ import annotations

import pytest

from pyvision.doctor.run_probes import check_host


def test_a_machine_that_can_isolate_passes_the_host_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {finding.subject: finding for finding in check_host()}
    assert (found["isolation"].verdict, found["kernel"].verdict, found["disk"].verdict) == (
        "yes",
        "yes",
        "yes",
    )
    assert found["CJK fonts"].verdict in ("yes", "no")
    assert isinstance(found["kernel"].value, float)


def test_without_isolation_nothing_else_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr("sandbox.isolation.landlock.landlock_abi", lambda: -1)
    found = {finding.subject: finding for finding in check_host()}
    assert found["isolation"].verdict == "no"
    assert "apt install bubblewrap" in found["isolation"].detail
    assert (found["kernel"].verdict, found["CJK fonts"].verdict) == ("not tried", "not tried")
