"""Loop in the finalizer of an object, where an interrupt is swallowed.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""


class Last:
    def __del__(self):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                continue


last = Last()
del last
