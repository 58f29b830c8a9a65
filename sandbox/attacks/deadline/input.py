"""Wait for input that never comes.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import sys

sys.__stdin__.read()
input()
