"""Loop in the handler of the interrupt itself.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import signal


def again(number, frame):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        pass


signal.signal(signal.SIGINT, again)
while True:
    pass
