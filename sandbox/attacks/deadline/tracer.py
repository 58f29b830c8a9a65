"""Raise the interrupt away in a trace function.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import sys


def again(frame, event, argument):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass


sys.settrace(again)
(lambda: None)()
