"""Print one text of 160 MB.

layer: output
plain: skipped, it would fill the memory of its reader
session: own
proof: neighbour
"""

print("x" * (160 * 2**20))
