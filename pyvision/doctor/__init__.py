"""Find out what an endpoint accepts and sees, and whether this machine can run cells."""

from pyvision.doctor.run_probes import Examination, examine

__all__ = ["Examination", "examine"]
