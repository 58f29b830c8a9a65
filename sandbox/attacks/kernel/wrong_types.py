"""Send well-signed messages with contents of every wrong type.

layer: messages
plain: skipped, nobody matches it there
session: own
after: print('own words')
expect: own words
"""

kernel = get_ipython().kernel
session = kernel.session
parent = kernel.get_parent("shell")

wrong = (None, 1, "x", [], {}, {"a": 1}, [[[]]], True, 1e308, "x" * 100_000)
for kind in ("stream", "display_data", "execute_result", "error", "status", "trace", "comm_open", "x", ""):
    for name in (
        "name",
        "text",
        "data",
        "ename",
        "evalue",
        "traceback",
        "execution_state",
        "events",
        "metadata",
    ):
        for value in wrong:
            session.send(kernel.iopub_socket, kind, {name: value}, parent)
