"""Call functions of the host that it was not given.

layer: messages
plain: skipped, there is no host to call
session: own
after: print('own words')
expect: own words
"""

kernel = get_ipython().kernel
session = kernel.session
parent = kernel.get_parent("shell")

ident = kernel._get_shell_context_var(kernel._shell_parent_ident)
for name in ("open", "eval", "__import__", "system", ""):
    content = {"call": "1", "function": name, "args": ["id"], "kwargs": {}}
    for _ in range(50):
        session.send(kernel.stdin_socket, "host_call", content, parent, ident=ident)
