"""Raise an exception that has 20,000 causes, each of them with a line of its own to be shown.

layer: output
plain: skipped, it takes minutes there
session: own
proof: deadline
timeout: 3
"""

error = None
for number in range(20_000):
    try:
        raise ValueError(str(number)) from error
    except ValueError as raised:
        error = raised
raise error
