"""Show 16 pictures of 12 MB each.

layer: output
plain: skipped, nobody reads them there
session: own
proof: neighbour
after: print(6 * 7)
expect: 42
"""

import base64
import os
import struct
import zlib

from IPython.display import display


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


header = struct.pack(">IIBBBBB", 2000, 2000, 8, 2, 0, 0, 0)
noise = os.urandom(12 * 2**20)
picture = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", noise) + chunk(b"IEND", b"")
encoded = base64.b64encode(picture).decode()
for _ in range(16):
    display({"image/png": encoded, "text/plain": "x"}, raw=True)
