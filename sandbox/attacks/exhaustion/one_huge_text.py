"""Print one text of 300 MB.

layer: output
plain: skipped, it would fill the memory of its reader
session: own
proof: neighbour
"""

print("x" * (300 * 2**20))
