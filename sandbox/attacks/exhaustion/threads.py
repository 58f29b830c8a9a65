"""Start 2,000 threads.

layer: limits
plain: depends, on the limits of whoever runs it
session: own
proof: neighbour
"""

import threading

over = threading.Event()
threads = []
try:
    for _ in range(2000):
        thread = threading.Thread(target=over.wait, args=(5,), daemon=True)
        thread.start()
        threads.append(thread)
    print(MARKER)
finally:
    over.set()
