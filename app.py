"""The web demo as a script: the same as `python -m pyvision demo`, with the same flags."""

import sys

from pyvision.cli import main

if __name__ == "__main__":
    sys.exit(main(["demo", *sys.argv[1:]]))
