"""Find out what an endpoint accepts and sees, and whether this machine can run cells."""

from pyvision.doctor.run_probes import ProbeReport, run_probes

__all__ = ["ProbeReport", "run_probes"]
