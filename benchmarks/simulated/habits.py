"""How strong models write: each habit with its rate, and replies and cells in that manner.

The rates are assumptions, chosen higher than what was seen of strong models, so that 300 questions meet each habit
often. Nothing in here is wrong as such: every cell would run in a notebook whose author had prepared it as they expect.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

Rates = Mapping[str, float]
Box = tuple[float, ...]
_Choice = TypeVar("_Choice", bound=str)

BOX_UNITS: Rates = {"original": 0.4, "shown": 0.25, "1000": 0.2, "1": 0.15}
FENCES: Rates = {
    "code": 0.5,  # <code> with a python fence, as the prompt asks
    "fence": 0.18,  # a python fence alone
    "plain_code": 0.06,  # <code> without a fence
    "tool_code": 0.06,  # Gemini's
    "json_call": 0.08,  # <tool_call> with JSON: Qwen, Hermes
    "invoke": 0.06,  # Claude's
    "python_tag": 0.06,
}
ANSWERS: Rates = {"asked": 0.4, "final": 0.2, "sentence": 0.15, "box": 0.15, "tag": 0.1}
SHOWING: Rates = {"zoom": 0.35, "display": 0.2, "imshow": 0.2, "expression": 0.1, "savefig": 0.15}
SOURCES: Rates = {"variable": 0.7, "image_clue_0.png": 0.12, "image_0.png": 0.1, "image_clue_0.jpg": 0.08}
COUNTING: Rates = {"cv2": 0.3, "ndimage": 0.25, "skimage": 0.2, "regionprops": 0.1, "pandas": 0.15}
ZOOM_TOOL = 0.06  # Qwen's image_zoom_in_tool in place of a cell
IMPORTS = 0.4  # cells that import what they use; the others forget it
SECOND_BLOCK = 0.04  # replies with another code block after the first
MADE_UP_OUTPUT = 0.03  # replies that go on with an output of the cell that they imagine
ENHANCED = 0.25  # looks after which a second cell enhances what the first has shown


@dataclass(frozen=True, slots=True)
class Manner:
    """The random choices of one reply. is_plain: only forms that the prompt asks for, as after a complaint.

    has_helpers: the prompt explains `zoom` and `from_shown`; without them, a box in a smaller copy is used as it is.
    """

    chance: random.Random
    is_plain: bool = False
    has_helpers: bool = True

    def pick(self, rates: Rates, plain: str) -> str:
        if self.is_plain:
            return plain
        return self.chance.choices(list(rates), list(rates.values()))[0]

    def happens(self, rate: float) -> bool:
        return not self.is_plain and self.chance.random() < rate


@dataclass(frozen=True, slots=True)
class Aim:
    """Where to look: a box in pixels of an original, the size of that, and the size of the copy that was sent."""

    name: str
    box: Box
    size: tuple[int, int]
    shown: tuple[int, int]

    def in_units(self, units: str) -> Box:
        """The box as models write it: in pixels of the original or of the copy, in thousandths, or in fractions."""
        width, height = self.size
        factors = {"original": self.size, "shown": self.shown, "1000": (1000, 1000), "1": (1, 1)}[units]
        scaled = [edge * factors[at % 2] / (width, height)[at % 2] for at, edge in enumerate(self.box)]
        return tuple(round(edge, 4) if units == "1" else round(edge) for edge in scaled)


def write_look(manner: Manner, aim: Aim) -> str:
    """The reply with a closer look."""
    if manner.happens(ZOOM_TOOL):
        return _zoom_tool_call(aim)
    ways = SHOWING if manner.has_helpers else {way: rate for way, rate in SHOWING.items() if way != "zoom"}
    way = manner.pick(ways, "zoom" if manner.has_helpers else "imshow")
    if way == "zoom":
        return write_reply(manner, "I look closer.", _zoom_call(manner, aim))
    source = manner.pick(SOURCES, "variable")
    opened = aim.name if source == "variable" else f"Image.open('{source}')"
    imports = "from PIL import Image\nimport matplotlib.pyplot as plt\n" if manner.happens(IMPORTS) else ""
    left = f"box = {_pixels_of(manner, aim)}"
    crop = f"{imports}img = {opened}\n{left}\ncrop = img.crop(tuple(round(edge) for edge in box))\n"
    enlarge = "crop = crop.resize((crop.width * 3, crop.height * 3), Image.LANCZOS)\n"
    ending = {
        "display": f"{enlarge}display(crop)",
        "expression": f"{enlarge}crop",
        "imshow": "plt.figure(figsize=(10, 8))\nplt.imshow(crop)\nplt.axis('off')\nplt.show()",
        "savefig": "plt.figure(figsize=(10, 8))\nplt.imshow(crop)\nplt.title('crop')\nplt.savefig('crop.png')",
    }
    return write_reply(manner, "Let me crop that part.", crop + ending[way])


def write_enhancement(manner: Manner, name: str) -> str:
    """The reply that enhances a figure by its name."""
    imports = "from PIL import ImageEnhance\n" if manner.happens(IMPORTS) else ""
    code = (
        f"{imports}sharp = ImageEnhance.Sharpness({name}).enhance(1.2)\n"
        "print(sharp.size, os.path.exists('/tmp'), math.hypot(*sharp.size) > 1)\ndisplay(sharp)"
    )
    return write_reply(manner, "Let me sharpen that.", code)


def write_count(manner: Manner, ink: Sequence[int]) -> str:
    """The reply that prints the boxes of all areas of a colour, one a line: left, top, right, bottom."""
    way, source = manner.pick(COUNTING, "ndimage"), manner.pick(SOURCES, "variable")
    opened = "np.array(image_clue_0)" if source == "variable" else f"np.array(Image.open('{source}'))"
    if source != "variable" and way == "cv2":
        opened = f"cv2.imread('{source}')[:, :, ::-1]"
    lines, imports = _COUNTING[way]
    needs_import = manner.is_plain or manner.happens(IMPORTS)
    head = f"{imports}\nimport numpy as np\n" if needs_import else ""
    mask = f"arr = {opened}\nmask = np.abs(arr.astype(int) - {list(ink)}).max(axis=2) < 40\n"
    return write_reply(manner, "I count by colour.", head + mask + lines)


def write_answer(manner: Manner, answer: str) -> str:
    return {
        "asked": f"I am sure now.\n<answer>\n\\boxed{{{answer}}}\n</answer>",
        "final": f"I could verify this in the crop.\n\n**Final Answer:** {answer}",
        "sentence": f"The crop shows it clearly. The answer is **{answer}**.",
        "box": f"So the result is $\\boxed{{{answer}}}$.",
        "tag": f"<answer>{answer}</answer>",
    }[manner.pick(ANSWERS, "asked")]


def write_reply(manner: Manner, prose: str, code: str) -> str:
    """A reply with a cell in one of the forms that models use for it."""
    form = manner.pick(FENCES, "code")
    block = _write_block(form, code)
    if manner.happens(MADE_UP_OUTPUT):
        block += "\n<interpreter>\nThe crop shows nothing of interest.\n</interpreter>\n"
    elif manner.happens(SECOND_BLOCK):
        block += f"\nThen I check the size.\n{_write_block(form, 'print(image_clue_0.size)')}"
    return f"{prose}\n{block}"


def _write_block(form: str, code: str) -> str:
    call = json.dumps({"name": "python", "arguments": {"code": code}})
    return {
        "code": f"<code>\n```python\n{code}\n```\n</code>",
        "fence": f"```python\n{code}\n```",
        "plain_code": f"<code>\n{code}\n</code>",
        "tool_code": f"```tool_code\n{code}\n```",
        "json_call": f"<tool_call>\n{call}\n</tool_call>",
        "invoke": f'<invoke name="python">\n<parameter name="code">{code}</parameter>\n</invoke>',
        "python_tag": f"<python>\n{code}\n</python>",
    }[form]


def _zoom_call(manner: Manner, aim: Aim) -> str:
    units = manner.pick(BOX_UNITS, "original")
    suffix = "" if units == "original" else f', units="{units}"'
    return f"zoom({aim.name}, {aim.in_units(units)}{suffix})"


def _zoom_tool_call(aim: Aim) -> str:
    arguments = {"bbox_2d": list(aim.in_units("shown")), "label": "object"}
    call = json.dumps({"name": "image_zoom_in_tool", "arguments": arguments})
    return f"I zoom in.\n<tool_call>\n{call}\n</tool_call>"


def _pixels_of(manner: Manner, aim: Aim) -> str:
    """Python code for the box in pixels of the original."""
    units, name = manner.pick(BOX_UNITS, "original"), aim.name
    values = aim.in_units(units)
    if units == "original" or (units == "shown" and not manner.has_helpers):
        return str(values)
    if units == "shown":
        corners = f"[({values[0]}, {values[1]}), ({values[2]}, {values[3]})]"
        return f"[float(edge) for corner in from_shown({name}, {corners}) for edge in corner]"
    factor = 1000 if units == "1000" else 1
    sides = f"{name}.width, {name}.height, {name}.width, {name}.height"
    return f"[edge * side / {factor} for edge, side in zip({values}, ({sides}))]"


_COUNTING = {
    "cv2": (
        "n, labels, stats, centres = cv2.connectedComponentsWithStats(mask.astype(np.uint8))\n"
        "for x, y, w, h, size in stats[1:]:\n    if size >= 20:\n        print(x, y, x + w, y + h)",
        "import cv2",
    ),
    "ndimage": (
        "labels, n = ndimage.label(mask)\nfor rows, columns in ndimage.find_objects(labels):\n"
        "    if (rows.stop - rows.start) * (columns.stop - columns.start) >= 20:\n"
        "        print(columns.start, rows.start, columns.stop, rows.stop)",
        "from scipy import ndimage",
    ),
    "skimage": (
        "labels = skimage.measure.label(mask)\nfor each in skimage.measure.regionprops(labels):\n"
        "    if each.area >= 20:\n        top, left, bottom, right = each.bbox\n"
        "        print(left, top, right, bottom)",
        "import skimage.measure",
    ),
    "regionprops": (
        "from skimage.measure import label, regionprops\nfound = [each.bbox for each in regionprops(label(mask))"
        " if each.area >= 20]\nprint('\\n'.join(f'{l} {t} {r} {b}' for t, l, b, r in found))",
        "",
    ),
    "pandas": (
        "labels, n = scipy.ndimage.label(mask)\nboxes = [(c.start, r.start, c.stop, r.stop) for r, c in "
        "scipy.ndimage.find_objects(labels)]\ntable = pd.DataFrame(boxes, columns=['l', 't', 'r', 'b'])\n"
        "print(table.to_string(index=False, header=False))",
        "import pandas as pd\nimport scipy.ndimage",
    ),
}
