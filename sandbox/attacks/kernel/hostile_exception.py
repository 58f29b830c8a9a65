"""Raise an exception whose text, name and frames answer nobody.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 1
"""


class Hostile(Exception):
    def __str__(self):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                continue

    __repr__ = __str__


raise Hostile
