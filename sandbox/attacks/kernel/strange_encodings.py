"""Send well-signed messages that are hardly JSON: huge numbers, halves of characters, other encodings.

layer: messages
plain: skipped, nobody matches it there
session: own
after: print("own words")
expect: own words
"""

import json

kernel = get_ipython().kernel
session = kernel.session
header, parent = (
    json.dumps(part, default=str).encode()
    for part in (session.msg_header("stream"), kernel.get_parent("shell")["header"])
)
strange = (
    b'{"name": "stdout", "text": ' + b"9" * 100_000 + b"}",
    b'{"name": "stdout", "text": 1e999999}',
    b'{"name": "stdout", "text": NaN}',
    b'{"name": "stdout", "text": "\\ud800"}',
    b'{"name": "stdout", "text": "\xff\xfe"}',
    '{"name": "stdout", "text": "x"}'.encode("utf-16"),
    b"\xef\xbb\xbf{}",
    b'{"name": "stdout", "name": 5, "text": "x"}',
    b"",
    b"\x00" * 1000,
    b'"' + b"\\u0000" * 10_000 + b'"',
)
for content in strange:
    for frames in (
        [header, parent, b"{}", content],
        [header, parent, content, b"{}"],
        [header, content, b"{}", b"{}"],
    ):
        kernel.iopub_socket.send_multipart([b"<IDS|MSG>", session.sign(frames), *frames])
        kernel.iopub_socket.send_multipart([b"<IDS|MSG>", session.sign(frames), *frames, b"buffer" * 100])
