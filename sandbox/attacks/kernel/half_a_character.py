"""Print a text that no message can carry.

layer: messages
plain: skipped, it spoils the kernel
session: own
proof: deadline
after: print("own words" if kept else "")
expect: own words
timeout: 1
"""

kept = True
print("\ud800")
