"""Try every attack on this machine, and report which ones were contained."""

from sandbox.escape_tests.attacks import Attack, attacks
from sandbox.escape_tests.runner import AttackResult, Runner

__all__ = ["Attack", "AttackResult", "Runner", "attacks"]
