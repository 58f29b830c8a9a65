"""Take every file watcher that one user of this machine may have, so that nobody else gets one.

layer: calls
plain: depends, on what else this user runs
"""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
most = int(open("/proc/sys/fs/inotify/max_user_instances").read())
held = []
while len(held) < min(most, 900) and (watcher := libc.inotify_init()) >= 0:
    held.append(watcher)
for watcher in held:
    os.close(watcher)
if len(held) >= min(most, 900) * 3 // 4:
    print(MARKER)
