"""Send frames that are no messages.

layer: messages
plain: skipped, nobody matches it there
session: own
after: print('own words')
expect: own words
"""

kernel = get_ipython().kernel
session = kernel.session
parent = kernel.get_parent("shell")

import os

for size in (0, 1, 5, 100, 10_000):
    for count in (1, 2, 6, 12):
        kernel.iopub_socket.send_multipart([os.urandom(size) for _ in range(count)])
        kernel.iopub_socket.send_multipart([b"<IDS|MSG>", *[os.urandom(size) for _ in range(count)]])
