"""Send a PNG that claims 4,000,000,000 pixels.

layer: messages
plain: skipped, nobody reads it there
session: own
proof: neighbour
after: print(6 * 7)
expect: 42
"""

import base64
import struct
import zlib
from IPython.display import display

header = struct.pack(">IIBBBBB", 65_535, 65_535, 8, 2, 0, 0, 0)
chunk = b"IHDR" + header
file = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
display({"image/png": base64.b64encode(file).decode(), "text/plain": "x"}, raw=True)
