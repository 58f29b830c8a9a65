"""Loop in the text of the last value, and catch every exception there.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""


class Value:
    def __repr__(self):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                continue


Value()
