"""Send one message of 200 MB.

layer: messages
plain: skipped, it would fill the memory of its reader
session: own
proof: neighbour
after: print('own words')
expect: own words
"""

kernel = get_ipython().kernel
session = kernel.session
parent = kernel.get_parent("shell")

kernel.iopub_socket.send_multipart([b"x" * (200 * 2**20)])
