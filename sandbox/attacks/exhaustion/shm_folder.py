"""Fill the shared memory of the machine with 200 MiB.

layer: disk
plain: depends, on the size of /dev/shm
"""

import os

try:
    with open("/dev/shm/filled", "wb", buffering=0) as file:
        for _ in range(50):
            file.write(b"x" * (4 * 2**20))
    if os.path.getsize("/dev/shm/filled") >= 200 * 2**20:
        print(MARKER)
finally:
    os.unlink("/dev/shm/filled")
