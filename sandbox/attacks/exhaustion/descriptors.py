"""Open 20,000 files.

layer: limits
plain: depends, on the limit of whoever runs it
"""

import os

held = []
try:
    for _ in range(20_000):
        held.append(os.open("/dev/null", os.O_RDONLY))
    print(MARKER)
finally:
    for file in held:
        os.close(file)
