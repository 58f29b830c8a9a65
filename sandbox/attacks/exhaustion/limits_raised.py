"""Live under no limit on memory, files and processes worth the name, by raising those that there are.

layer: users
plain: depends, on the limits of whoever runs it
"""

import resource

generous = {resource.RLIMIT_AS: 2**37, resource.RLIMIT_FSIZE: 2**37, resource.RLIMIT_NPROC: 2_000}
held = {}
for limit, wanted in generous.items():
    held[limit] = resource.getrlimit(limit)
    hard = held[limit][1]
    if hard != resource.RLIM_INFINITY and hard < wanted:
        resource.setrlimit(limit, (wanted, wanted))
print(MARKER)
for limit, before in held.items():
    resource.setrlimit(limit, before)
