"""Catch every exception and go on.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

while True:
    try:
        while True:
            pass
    except BaseException:
        pass
