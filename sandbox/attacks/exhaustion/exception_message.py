"""Raise an exception with a message of 200 MB.

layer: output
plain: skipped, it would fill the memory of its reader
session: own
proof: neighbour
after: print(6 * 7)
expect: 42
"""

raise ValueError("x" * (200 * 2**20))
