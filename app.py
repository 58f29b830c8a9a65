"""The web demo, for who looks for it here: what `python -m pyvision demo` does, with the same flags."""

import sys

from pyvision.cli import main

if __name__ == "__main__":
    sys.exit(main(["demo", *sys.argv[1:]]))
