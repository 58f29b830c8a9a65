"""Say that it is over, and go on to write.

layer: messages
plain: skipped, nobody matches it there
session: own
after: print('own words')
expect: own words
"""

kernel = get_ipython().kernel
session = kernel.session
parent = kernel.get_parent("shell")

import time

session.send(kernel.iopub_socket, "status", {"execution_state": "idle"}, parent)
time.sleep(0.3)
print("after the end")
