"""Answer its own request before its end, and speak in the next cell.

layer: messages
plain: skipped, nobody matches it there
session: own
after: print('own words')
expect: own words
"""

kernel = get_ipython().kernel
session = kernel.session
parent = kernel.get_parent("shell")

content = {"status": "ok", "execution_count": 1, "user_expressions": {}, "payload": []}
session.send(
    kernel.shell_stream,
    "execute_reply",
    content,
    parent,
    ident=kernel._get_shell_context_var(kernel._shell_parent_ident),
)
session.send(kernel.iopub_socket, "status", {"execution_state": "idle"}, parent)
import threading, time

threading.Thread(target=lambda: (time.sleep(0.2), print(MARKER + "!"))).start()
time.sleep(0.5)
print("forged")
