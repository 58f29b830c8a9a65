"""Send a message nested 5,000 levels deep.

layer: messages
plain: skipped, nobody matches it there
session: own
after: print('own words')
expect: own words
"""

kernel = get_ipython().kernel
session = kernel.session
parent = kernel.get_parent("shell")

import json

header = json.dumps(session.msg_header("stream"), default=str).encode()
frames = [
    header,
    json.dumps(parent["header"], default=str).encode(),
    b"{}",
    b'{"name":' + b"[" * 5000 + b"]" * 5000 + b"}",
]
kernel.iopub_socket.send_multipart([b"<IDS|MSG>", session.sign(frames), *frames])
