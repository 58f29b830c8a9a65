"""Find a secret in its own environment.

layer: environment
plain: succeeds
"""

import os

if TARGET["secret_name"] in os.environ:
    print(MARKER)
