"""Recurse without end in C.

layer: deadline
plain: skipped, it ends the kernel
session: own
proof: deadline
timeout: 1
"""

import sys

sys.setrecursionlimit(10**9)


def deeper(value):
    return deeper([value])


deeper([])
