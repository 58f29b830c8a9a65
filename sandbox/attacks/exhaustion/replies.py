"""Send the host 20,000 replies that it has not asked for.

layer: messages
plain: skipped, nobody reads it there
session: own
timeout: 3
proof: neighbour
after: print(6 * 7)
expect: 42
"""

kernel = get_ipython().kernel
ident = kernel._get_shell_context_var(kernel._shell_parent_ident)
shell = kernel.shell_channel_thread.manager.get_subshell_to_shell_channel_socket(None)
for number in range(20_000):
    forged = {"header": {"msg_id": str(number)}}
    kernel.session.send(shell, "execute_reply", {"status": "ok"}, forged, ident=ident)
