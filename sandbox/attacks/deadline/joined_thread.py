"""Wait for a thread that never ends.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import threading

thread = threading.Thread(target=threading.Event().wait)
thread.start()
while thread.is_alive():
    try:
        thread.join()
    except BaseException:
        pass
