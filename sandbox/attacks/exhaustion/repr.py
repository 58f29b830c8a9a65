"""Show an object whose repr has 300 MB.

layer: output
plain: skipped, it would fill the memory of its reader
session: own
proof: neighbour
after: print(6 * 7)
expect: 42
"""


class Wide:
    def __repr__(self):
        return "x" * (300 * 2**20)


Wide()
