"""Send well-signed messages whose dates, versions and parents are nothing like them.

layer: messages
plain: skipped, nobody matches it there
session: own
after: print("own words")
expect: own words
"""

import json

kernel = get_ipython().kernel
session = kernel.session
parent = kernel.get_parent("shell")
own = json.loads(json.dumps(parent["header"], default=str))
dates = (
    "2020-01-01T00:00:00",
    "9999-12-31T23:59:59.999999",
    "0000-00-00T99:99:99Z",
    "2020-01-01T00:00:00+99:99",
    5,
)
versions = ("4.0", "3", "", ".", "x", "99999999999999999999.1", "-1", 5, None, ["5"], {})
kinds = ("stream", "pyout", "pyerr", "display_data", "complete_reply", "object_info_reply", "status")
contents = (
    {},
    {"data": {"application/json": "{"}},
    {"data": "x"},
    {"name": "stdout", "data": 5},
    {"text": {}},
)


def tell(header, parent_header, metadata, content):
    frames = [json.dumps(part).encode() for part in (header, parent_header, metadata, content)]
    kernel.iopub_socket.send_multipart([b"<IDS|MSG>", session.sign(frames), *frames])


for kind in kinds:
    for content in contents:
        for date in dates:
            tell({**own, "msg_type": kind, "date": date}, own, {}, content)
        for version in versions:
            tell({**own, "msg_type": kind, "version": version}, own, {}, content)
for strange in ([], None, 5, "x", {}, {"msg_id": []}, {"msg_id": {}, "date": "2020-01-01T00:00:00"}):
    tell({**own, "msg_type": "stream"}, strange, {}, {"name": "stdout", "text": "x"})
    tell(strange, own, {}, {"name": "stdout", "text": "x"})
    tell({**own, "msg_type": "stream"}, own, strange, {"name": "stdout", "text": ""})
