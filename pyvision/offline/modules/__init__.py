"""What the cells of the offline model import; a sandbox offers this folder to them (`Policy.modules`)."""

from pathlib import Path

FOLDER = str(Path(__file__).resolve().parent)
