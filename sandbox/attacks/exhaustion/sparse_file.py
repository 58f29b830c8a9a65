"""Make a sparse file of 1 TiB.

layer: limits
plain: depends, some file systems refuse it
"""

import os
import tempfile

with tempfile.NamedTemporaryFile() as file:
    os.ftruncate(file.fileno(), 2**40)
    print(MARKER)
