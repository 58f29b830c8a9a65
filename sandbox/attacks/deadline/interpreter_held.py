"""Hold the interpreter in a regular expression.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import re

re.match(r"(a+)+$", "a" * 60 + "b")
