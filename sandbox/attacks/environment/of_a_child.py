"""Find a secret in the environment of a child.

layer: environment
plain: succeeds
"""

import subprocess

if TARGET["secret_name"] in subprocess.run(["/usr/bin/env"], capture_output=True, text=True).stdout:
    print(MARKER)
