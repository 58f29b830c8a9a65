"""Find a secret in the environment that its process was started with.

layer: environment
plain: succeeds
"""

if TARGET["secret_name"].encode() in open("/proc/self/environ", "rb").read():
    print(MARKER)
