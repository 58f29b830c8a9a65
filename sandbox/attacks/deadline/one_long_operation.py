"""Hold the interpreter in one operation on a huge number.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

base = 7
x = base ** (10**9)
