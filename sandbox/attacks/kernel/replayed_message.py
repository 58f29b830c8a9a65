"""Send one signed message of the kernel many times.

layer: messages
plain: skipped, nobody matches it there
session: own
after: print('own words')
expect: own words
"""

kernel = get_ipython().kernel
session = kernel.session
parent = kernel.get_parent("shell")

message = session.msg("stream", {"name": "stdout", "text": "again\n"}, parent)
frames = session.serialize(message)
for _ in range(1000):
    kernel.iopub_socket.send_multipart(frames)
