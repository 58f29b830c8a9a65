"""Put something else in the place of standard output for the next cell.

layer: messages
plain: skipped, it spoils the kernel
session: own
after: print('own words')
expect: own words
"""

import io
import sys

sys.stdout = io.StringIO()
sys.stderr = None
