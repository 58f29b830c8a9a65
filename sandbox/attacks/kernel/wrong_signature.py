"""Send messages with another key.

layer: messages
plain: skipped, nobody matches it there
session: own
after: print('own words')
expect: own words
"""

kernel = get_ipython().kernel
session = kernel.session
parent = kernel.get_parent("shell")

forger = type(session)(key=b"another key")
for _ in range(100):
    forger.send(kernel.iopub_socket, "stream", {"name": "stdout", "text": MARKER + "\n"}, parent)
