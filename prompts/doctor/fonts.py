from matplotlib import font_manager
from matplotlib.ft2font import FT2Font

ASKED = {"Chinese": "汉", "Japanese": "の", "Korean": "한"}
found = set()
for entry in font_manager.fontManager.ttflist:
    try:
        font = FT2Font(entry.fname)
    except (OSError, RuntimeError):
        continue
    found |= {script for script, letter in ASKED.items() if font.get_char_index(ord(letter))}
print(",".join(script for script in ASKED if script not in found))
