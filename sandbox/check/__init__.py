"""Try every attack on this machine, and tell what was contained."""

from sandbox.check.programs import Attack, attacks
from sandbox.check.run import Runner, Verdict

__all__ = ["Attack", "Runner", "Verdict", "attacks"]
