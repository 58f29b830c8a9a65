"""Hostile work. Whatever its result is, the session must answer again after it, and leave nothing behind.

Every bomb is bounded in count and in time, also where nothing would contain it.
"""

from __future__ import annotations

BOMBS = {
    "fork loop": """
import os, time
for _ in range(300):
    try:
        if os.fork() == 0:
            time.sleep(2)
            os._exit(0)
    except OSError:
        break
""",
    "thread loop": """
import threading, time
for _ in range(500):
    threading.Thread(target=time.sleep, args=(2,), daemon=True).start()
""",
    "memory hog": """
def hog():
    return [bytearray(b"x") * 2**26 for _ in range(40)]
len(hog())
""",
    "ignored interrupt": """
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
end = time.monotonic() + 20
while time.monotonic() < end:
    try:
        time.sleep(0.01)
    except BaseException:
        pass
""",
    "sudden exit": "import os\nos._exit(3)",
    "crash": "import ctypes\nctypes.string_at(0)",
    "stopped": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    "junk on descriptors": """
import os
for descriptor in range(3, 64):
    try:
        os.set_blocking(descriptor, False)
        os.write(descriptor, os.urandom(4096))
    except OSError:
        pass
""",
    "closed descriptors": "import os\nos.closerange(3, 256)",
    "flood of text": "for _ in range(200):\n    print('x' * 10**6)",
    "flood of figures": """
from PIL import Image
for number in range(100):
    display(Image.new("RGB", (200, 200), (number, 0, 0)))
""",
    "full disk": """
with open("/tmp/filler", "wb") as filler:
    for _ in range(64):
        filler.write(bytes(2**24))
""",
    "endless recursion": """
import sys
sys.setrecursionlimit(10**6)
def deeper(depth):
    return deeper(depth + 1) if depth < 10**5 else depth
deeper(0)
""",
}
