"""Ask a recorded question again with parts of its images masked: does the answer depend on its evidence?"""

from pyvision.runs.verify.verify import Check, Verification, verify

__all__ = ["Check", "Verification", "verify"]
