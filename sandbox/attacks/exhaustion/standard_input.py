"""Ask the host for 20,000 lines of input.

layer: output
plain: skipped, nobody reads it there
session: own
proof: neighbour
after: print(6 * 7)
expect: 42
"""

kernel = get_ipython().kernel
parent = kernel.get_parent("shell")
ident = kernel._get_shell_context_var(kernel._shell_parent_ident)
for _ in range(20_000):
    kernel.session.send(kernel.stdin_socket, "input_request", {"prompt": "x" * 100}, parent, ident=ident)
