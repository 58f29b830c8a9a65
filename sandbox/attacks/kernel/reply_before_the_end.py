"""Answer its own request before its end, and go on writing when the next cell runs.

layer: messages
plain: skipped, nobody matches it there
session: own
after: print("own words")
expect: own words
"""

import time

kernel = get_ipython().kernel
parent = kernel.get_parent("shell")
ident = kernel._get_shell_context_var(kernel._shell_parent_ident)
shell = kernel.shell_channel_thread.manager.get_subshell_to_shell_channel_socket(None)
kernel.session.send(shell, "execute_reply", {"status": "ok"}, parent, ident=ident)
kernel.session.send(kernel.iopub_socket, "status", {"execution_state": "idle"}, parent)
for _ in range(5):
    time.sleep(0.1)
    print("words of the first cell")
