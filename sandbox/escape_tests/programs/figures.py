"""Hand the host a figure that is not what it claims to be, or that costs it more than it cost the cell."""

# %% animated
"""Show a PNG file that also holds an animation.

layer: output
plain: skipped, nobody is handed its figures there
proof: result
"""

import struct
import zlib

from IPython.display import display


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


header = struct.pack(">IIBBBBB", 10, 10, 8, 0, 0, 0, 0)
pixels = zlib.compress(bytes(11 * 10))
frames = [
    chunk(b"fcTL", struct.pack(">IIIIIHHBB", 2 * each + 1, 10, 10, 0, 0, 1, 1, 0, 0))
    + chunk(b"fdAT", struct.pack(">I", 2 * each + 2) + pixels)
    for each in range(100)
]
first = chunk(b"fcTL", struct.pack(">IIIIIHHBB", 0, 10, 10, 0, 0, 1, 1, 0, 0))
file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"acTL", struct.pack(">II", 101, 0))
file += first + chunk(b"IDAT", pixels) + b"".join(frames) + chunk(b"IEND", b"")
display({"image/png": file}, raw=True)


# %% compressed_text
"""Show a PNG file with a text that is a thousand times larger once it is inflated.

layer: output
plain: skipped, nobody is handed its figures there
proof: result
"""

import struct
import zlib

from IPython.display import display


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


header = struct.pack(">IIBBBBB", 10, 10, 8, 0, 0, 0, 0)
text = b"bomb\0\0" + zlib.compress(bytes(32 * 2**20), 9)
file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + 100 * chunk(b"zTXt", text)
file += chunk(b"IDAT", zlib.compress(bytes(11 * 10))) + chunk(b"IEND", b"")
display({"image/png": file}, raw=True)


# %% damaged
"""Show a PNG file whose pixels do not match their checksum.

layer: output
plain: skipped, nobody is handed its figures there
proof: result
"""

import io

from IPython.display import display
from PIL import Image

sink = io.BytesIO()
Image.new("RGB", (40, 30)).save(sink, "PNG")
file = bytearray(sink.getvalue())
file[file.index(b"IDAT") + 12] ^= 0xFF
display({"image/png": bytes(file)}, raw=True)


# %% error_name
"""Fail with an exception whose name has twenty million characters.

layer: output
plain: skipped, nobody is handed its errors there
proof: result
"""

raise type("E" * 20_000_000, (Exception,), {})


# %% inflated
"""Show a PNG file of few pixels that inflate to a gigabyte.

layer: output
plain: skipped, nobody is handed its figures there
proof: result
"""

import struct
import zlib

from IPython.display import display


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


header = struct.pack(">IIBBBBB", 100, 100, 8, 0, 0, 0, 0)
stream = zlib.compressobj(9, zlib.DEFLATED, -15)
block = stream.compress(bytes(2**20)) + stream.flush(zlib.Z_FULL_FLUSH)
sums = 1
for _ in range(1024):
    sums = zlib.adler32(bytes(2**20), sums)
pixels = b"\x78\xda" + 1024 * block + stream.flush() + struct.pack(">I", sums)
file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
display({"image/png": file}, raw=True)


# %% named_again_and_again
"""Name one padded JPEG file a thousand times in one call to the host.

layer: messages
plain: skipped, it has no host to call
timeout: 3
session: own
functions: take
proof: deadline
"""

file = b"\xff\xd8" + b"\xff" * 2**16 + b"\xc0\x00\x11\x08\x00\x10\x00\x10\x03" + bytes(20)
names = [{"__picture__": 0}] * 1000
host._exchange({"call": "1", "function": "take", "args": [names], "kwargs": {}}, [file])


# %% padded
"""Show two JPEG files whose headers begin with fifteen million bytes of padding each.

layer: output
plain: skipped, nobody is handed its figures there
timeout: 3
session: own
proof: deadline
"""

from ipykernel.zmqshell import ZMQDisplayPublisher

file = b"\xff\xd8" + b"\xff" * 15_000_000 + b"\xc0\x00\x11\x08\x00\x10\x00\x10\x03" + bytes(20)
for _ in range(2):
    ZMQDisplayPublisher.publish(get_ipython().display_pub, {"image/jpeg": file})


# %% padded_in_a_call
"""Give the host four JPEG files of twenty million bytes of padding as arguments of a function.

layer: messages
plain: skipped, it has no host to call
timeout: 3
session: own
functions: take
proof: deadline
"""

file = b"\xff\xd8" + b"\xff" * 20_000_000 + b"\xc0\x00\x11\x08\x00\x10\x00\x10\x03" + bytes(20)
for _ in range(4):
    host._exchange({"call": "1", "function": "take", "args": [{"__picture__": 0}], "kwargs": {}}, [file])


# %% polyglot
"""Show a PNG file that is an archive too.

layer: output
plain: skipped, nobody is handed its figures there
proof: result
"""

import io
import zipfile

from IPython.display import display
from PIL import Image

sink, archive = io.BytesIO(), io.BytesIO()
Image.new("RGB", (40, 30)).save(sink, "PNG")
with zipfile.ZipFile(archive, "w") as file:
    file.writestr("program.py", "print(1)")
display({"image/png": sink.getvalue() + archive.getvalue()}, raw=True)


# %% thin
"""Show a picture that is one pixel wide and sixty thousand high.

layer: output
plain: skipped, nobody is handed its figures there
proof: result
"""

from IPython.display import display
from PIL import Image

display(Image.new("RGB", (1, 60_000)))


# %% truncated
"""Show a PNG file that ends in the middle of its pixels.

layer: output
plain: skipped, nobody is handed its figures there
proof: result
"""

import io
import random

from IPython.display import display
from PIL import Image

sink = io.BytesIO()
Image.frombytes("L", (200, 200), random.randbytes(40_000)).save(sink, "PNG")
display({"image/png": sink.getvalue()[:20_000]}, raw=True)


# %% truncated_inside
"""Show a PNG file whose chunks are whole but hold half of its pixels.

layer: output
plain: skipped, nobody is handed its figures there
proof: result
"""

import struct
import zlib

from IPython.display import display


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


header = struct.pack(">IIBBBBB", 200, 200, 8, 0, 0, 0, 0)
pixels = zlib.compress(bytes(201 * 100))
file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
display({"image/png": file}, raw=True)


# %% two_frames
"""Show a JPEG file with two sizes, of which readers take one or the other.

layer: output
plain: skipped, nobody is handed its figures there
proof: result
"""

import io
import struct

from ipykernel.zmqshell import ZMQDisplayPublisher
from PIL import Image

sink = io.BytesIO()
Image.new("RGB", (160, 160)).save(sink, "JPEG")
file = sink.getvalue()
at = file.index(b"\xff\xc0")
frame = file[at : at + 19]
other = frame[:5] + struct.pack(">HH", 8, 8) + frame[9:]
file = file[:at] + other + file[at:]
ZMQDisplayPublisher.publish(get_ipython().display_pub, {"image/jpeg": file})


# %% two_headers
"""Show a PNG file with two headers, of ten by ten pixels and of fourteen thousand by fourteen thousand.

layer: output
plain: skipped, nobody is handed its figures there
proof: result
"""

import struct
import zlib

from IPython.display import display


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


small, large = (struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0) for side in (10, 14_000))
stream = zlib.compressobj(9)
pixels = b"".join(stream.compress(bytes(14_001)) for _ in range(14_000)) + stream.flush()
file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", small) + chunk(b"IHDR", large)
display({"image/png": file + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")}, raw=True)


# %% two_headers_in_a_call
"""Give the host a PNG file with two headers as an argument of a function.

layer: messages
plain: skipped, it has no host to call
functions: take
proof: result
"""

import struct
import zlib


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


small, large = (struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0) for side in (10, 1_000))
file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", small) + chunk(b"IHDR", large)
file += chunk(b"IDAT", zlib.compress(bytes(1_001 * 1_000))) + chunk(b"IEND", b"")
host._exchange({"call": "1", "function": "take", "args": [{"__picture__": 0}], "kwargs": {}}, [file])
