"""Answer requests that the host has not made yet, whose identities can be guessed.

layer: messages
plain: skipped, nobody matches it there
session: own
after: import time; time.sleep(0.2); print("own words")
expect: own words
"""

kernel = get_ipython().kernel
parent = kernel.get_parent("shell")["header"]
ident = kernel._get_shell_context_var(kernel._shell_parent_ident)
shell = kernel.shell_channel_thread.manager.get_subshell_to_shell_channel_socket(None)
base, _, number = parent["msg_id"].rpartition("_")
for ahead in range(1, 20):
    guess = {"header": {"msg_id": f"{base}_{int(number) + ahead}", "session": parent["session"]}}
    kernel.session.send(kernel.iopub_socket, "status", {"execution_state": "idle"}, guess)
    kernel.session.send(shell, "execute_reply", {"status": "ok"}, guess, ident=ident)
