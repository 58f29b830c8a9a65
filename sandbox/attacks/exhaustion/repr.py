"""Show an object whose repr has 160 MB.

layer: output
plain: skipped, it would fill the memory of its reader
session: own
proof: neighbour
after: print(6 * 7)
expect: 42
"""


class Wide:
    def __repr__(self):
        return "x" * (160 * 2**20)


Wide()
