"""`python -m pyvision`."""

import sys

from pyvision.cli import main

if __name__ == "__main__":
    sys.exit(main())
