"""Decode a picture file of a few kilobytes that has more pixels than a session has memory.

layer: limits
plain: depends, on the memory and the limits of the machine
"""

import io
import resource
import struct
import zlib

from PIL import Image

limit = resource.getrlimit(resource.RLIMIT_AS)[0]
wanted = (512 * 2**20 if limit == resource.RLIM_INFINITY else limit) * 5 // 4
side = int(wanted**0.5) + 1


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


Image.MAX_IMAGE_PIXELS = None
packer = zlib.compressobj(1)
rows = (
    b"".join(packer.compress(bytes(side + 1)) for _ in range(100)) + packer.flush()
)  # the others are missing
header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
bomb = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
picture = Image.open(io.BytesIO(bomb))
try:
    picture.load()
except (OSError, SyntaxError):
    pass  # it is cut short; by then its memory was had
if picture.im is not None and picture.im.size == (side, side):
    print(MARKER)
