"""What a visual program works with: ImagePatch and a few functions.

Geometry is computed here, on PIL images. Whatever needs a model is requested from `host`, which the caller provides:
    find(picture, name)            -> [[left, lower, right, upper, score], …], pixels from the bottom left, best first
    simple_query(picture, question) -> str
    match(picture, texts)          -> [float, …], higher fits better, comparable within one picture
    verify(picture, name, property) -> bool, or None if `match` is to rank texts instead
    depth(picture)                 -> {"depth": rows from the top, "width": …, "height": …}, larger is farther
    llm_query(query, context, long_answer) -> str
An exception in such a call is raised in the program as ServiceError.

Coordinates are pixels of the original image, measured from its bottom left corner: lower < upper.
"""

# ruff: noqa: A002, FBT002 - the names and the order are those of the published interface

import re
from statistics import mean, median

CROP_MARGIN_PX = 10  # by which `crop` grows on each side, as in the published configuration
PROPERTY_THRESHOLD = 0.6
_ATTRIBUTES = (
    "red", "orange", "yellow", "green", "blue", "purple", "pink", "brown", "black", "white", "grey", "beige",
    "wooden", "metal", "plastic", "glass", "leather", "paper", "stone", "brick",
    "striped", "spotted", "checkered", "plain", "shiny", "transparent",
    "large", "small", "tall", "short", "round", "square", "thin", "thick",
    "open", "closed", "empty", "full", "wet", "dry", "clean", "dirty", "old", "new", "broken", "bright", "dark",
)  # fmt: skip
_ANYTHING_ELSE = ("background", "an empty area", "something else")
_NUMBERS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
} | {
    word: 10 * tens
    for tens, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_LARGE = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_DIGITS = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.?\d+)")


class ServiceError(RuntimeError):
    """A model behind a method failed. The message says which one and why."""


class ImagePatch:
    """A rectangle of an image. left, lower, right, upper: in pixels of the original image, from its bottom left."""

    def __init__(self, image, left=None, lower=None, right=None, upper=None, *, _parent=None):
        """The whole image, or a rectangle of it in the image's own coordinates.

        Parts outside the image are cut off. Raises ValueError for a rectangle without area.
        """
        if isinstance(image, ImagePatch):
            image, _parent = image.cropped_image, _parent or image
        image = _as_picture(image)
        left, lower = max(0, int(left or 0)), max(0, int(lower or 0))
        right = image.width if right is None else min(image.width, int(right))
        upper = image.height if upper is None else min(image.height, int(upper))
        if right <= left or upper <= lower:
            raise ValueError("ImagePatch has no area")
        whole = (left, lower, right, upper) == (0, 0, image.width, image.height)
        self.cropped_image = (
            image if whole else image.crop((left, image.height - upper, right, image.height - lower))
        )
        self._original = _parent._original if _parent else _Original(image)
        at_left, at_lower = (_parent.left, _parent.lower) if _parent else (0, 0)
        self.left, self.right = at_left + left, at_left + right
        self.lower, self.upper = at_lower + lower, at_lower + upper
        self.width, self.height = right - left, upper - lower
        self.horizontal_center = (self.left + self.right) / 2
        self.vertical_center = (self.lower + self.upper) / 2

    def __repr__(self):
        names = ("left", "right", "upper", "lower", "height", "width", "horizontal_center", "vertical_center")
        return f"ImagePatch({', '.join(f'{name}={getattr(self, name)}' for name in names)})"

    def crop(self, left, lower, right, upper):
        """A rectangle of this patch in the patch's own coordinates, enlarged by CROP_MARGIN_PX on each side."""
        left, lower = int(left) - CROP_MARGIN_PX, int(lower) - CROP_MARGIN_PX
        right, upper = int(right) + CROP_MARGIN_PX, int(upper) + CROP_MARGIN_PX
        return ImagePatch(self.cropped_image, left, lower, right, upper, _parent=self)

    def find(self, object_name):
        """A patch for each object of this name, best first; an empty list if there is none."""
        boxes = _ask("find", self.cropped_image, str(object_name))
        return [self.crop(*box[:4]) for box in boxes]

    def exists(self, object_name):
        """Whether there is one. Digits, or `number …`, are compared with the number written in the patch."""
        name = str(object_name).strip()
        if name.isdigit() or name.lower().startswith("number"):
            wanted = _number(name.lower().removeprefix("number").strip())
            return wanted == _number(self.simple_query("What number is written in the image (in digits)?"))
        return any("yes" in patch.simple_query(f"Is this a {name}?").lower() for patch in self.find(name))

    def verify_property(self, object_name, property):
        """Whether the patch shows the object with this property.

        A chat model is asked whether it does. With a network that scores texts, they are ranked: the score is the
        share of other attributes for which `<attribute> <object>` fits worse than `<property> <object>`; ties count
        half, and the score must exceed PROPERTY_THRESHOLD. It depends only on the order of the match scores.
        """
        holds = _ask("verify", self.cropped_image, str(object_name), str(property))
        if holds is not None:
            return bool(holds)
        others = [each for each in _ATTRIBUTES if each != str(property).lower().strip()]
        own_score, *scores = _ask(
            "match", self.cropped_image, [f"{each} {object_name}" for each in (property, *others)]
        )
        worse = sum(1.0 if score < own_score else 0.5 if score == own_score else 0.0 for score in scores)
        return worse / len(scores) > PROPERTY_THRESHOLD

    def best_text_match(self, option_list, prefix=None):
        """The option that fits the patch best."""
        options = [str(option) for option in option_list]
        if not options:
            raise ValueError("best_text_match needs at least one option")
        scores = _ask(
            "match", self.cropped_image, [f"{prefix} {each}" if prefix else each for each in options]
        )
        return options[scores.index(max(scores))]

    def simple_query(self, question=None):
        """A short answer to a question about the patch."""
        return str(_ask("simple_query", self.cropped_image, str(question or "What is this?")))

    def compute_depth(self):
        """How far away the patch is: the median over its pixels, without a unit; larger is farther."""
        return self._original.depth_of(self.left, self.lower, self.right, self.upper)

    def overlaps_with(self, left, lower=None, right=None, upper=None):
        """Whether the patch and a rectangle in coordinates of the original, or another patch, share a point."""
        if isinstance(left, ImagePatch):
            left, lower, right, upper = left.left, left.lower, left.right, left.upper
        return self.left <= right and self.right >= left and self.lower <= upper and self.upper >= lower


class _Original:
    """The image that patches are cut from; its depth is requested once."""

    def __init__(self, image):
        self.image = image
        self._depth = None

    def depth_of(self, left, lower, right, upper):
        if self._depth is None:
            self._depth = _ask("depth", self.image)["depth"]
        rows, columns = len(self._depth), len(self._depth[0])
        tall, wide = rows / self.image.height, columns / self.image.width
        first, last = int((self.image.height - upper) * tall), int((self.image.height - lower - 1) * tall)
        start, end = int(left * wide), int((right - 1) * wide)
        return float(median(cell for row in self._depth[first : last + 1] for cell in row[start : end + 1]))


def best_image_match(list_patches, content, return_index=False):
    """The patch, or its index, that fits the texts best on average; None without patches.

    Each score is how much better the texts fit than a few neutral ones, so that patches can be compared.
    """
    content = [content] if isinstance(content, str) else [str(each) for each in content]
    if not list_patches:
        return None
    scores = [_fit(ImagePatch(patch), content) for patch in list_patches]
    index = scores.index(max(scores))
    return index if return_index else list_patches[index]


def distance(patch_a, patch_b):
    """From edge to edge in pixels; minus the intersection over union if they overlap. For numbers, their difference."""
    if not isinstance(patch_a, ImagePatch) or not isinstance(patch_b, ImagePatch):
        return abs(patch_a - patch_b)
    across = max(patch_a.left, patch_b.left) - min(patch_a.right, patch_b.right)
    up = max(patch_a.lower, patch_b.lower) - min(patch_a.upper, patch_b.upper)
    if across < 0 and up < 0:
        common = across * up
        return -common / (patch_a.width * patch_a.height + patch_b.width * patch_b.height - common)
    return (max(0, across) ** 2 + max(0, up) ** 2) ** 0.5


def bool_to_yesno(bool_answer):
    """yes or no."""
    return "yes" if bool_answer else "no"


def llm_query(query, context=None, long_answer=True):
    """A language model's answer to a question, without the image."""
    return str(_ask("llm_query", str(query), "" if context is None else str(context), bool(long_answer)))


def coerce_to_numeric(string, no_string=False):
    """The first number in a text, in digits or in words; the text itself without one, or ValueError if `no_string`."""
    if isinstance(string, (bool, int, float)):
        return string
    number = _number(str(string))
    if number is None and no_string:
        raise ValueError(f"{string!r} holds no number")
    return string if number is None else number


def side_by_side(images):
    """Several images in one, each in a square of 500 pixels, three in a row."""
    from PIL import Image

    columns = min(3, len(images))
    sheet = Image.new("RGB", (500 * columns, 500 * -(-len(images) // columns)), "white")
    for at, image in enumerate(images):
        sheet.paste(
            _as_picture(image).convert("RGB").resize((500, 500)),
            (500 * (at % columns), 500 * (at // columns)),
        )
    return sheet


def answer_as_plain_values(result):
    """What a program returned, as plain values for the host: its type, its text and, if any, its value or box."""
    value = result[0] if isinstance(result, (list, tuple)) and result else result
    plain = {"type": type(result).__name__, "text": str(result)[:2000], "length": len(str(result))}
    if isinstance(result, (list, tuple)) and not result:
        return plain | {"empty": True}
    if isinstance(value, ImagePatch):
        return plain | {"box": [value.left, value.lower, value.right, value.upper]}
    if hasattr(value, "item") and getattr(value, "size", 0) == 1:
        value = value.item()  # from numpy or a tensor
    if isinstance(value, (bool, int, float, str)):
        return plain | {"value": value[:2000] if isinstance(value, str) else value}
    return plain


def _fit(patch, content):
    scores = _ask("match", patch.cropped_image, [*content, *_ANYTHING_ELSE])
    return mean(scores[: len(content)]) - mean(scores[len(content) :])


def _ask(function, *arguments):
    try:
        return getattr(host, function)(*arguments)
    except Exception as error:
        raise ServiceError(re.sub(r"^\w+ failed: ToolError: ", "", str(error))) from None


def _as_picture(image):
    if isinstance(image, ImagePatch):
        return image.cropped_image
    if hasattr(image, "crop") and hasattr(image, "width"):
        return image
    if type(image).__module__ == "numpy":
        from PIL import Image

        return Image.fromarray(image)
    raise TypeError(f"ImagePatch takes an image, not a {type(image).__name__}")


def _number(text):
    """The first number in a text, or None. 1,200 and twelve hundred are numbers."""
    tokens = re.findall(r"[a-z]+|" + _DIGITS.pattern, text.lower())
    for at, token in enumerate(tokens):
        if token in _NUMBERS or token in _LARGE:
            return _parse_words(tokens[at:])
        if not token[0].isalpha():
            digits = token.replace(",", "")
            return float(digits) if "." in digits else int(digits)
    return None


def _parse_words(tokens):
    total, below = 0, None
    for token in tokens:
        if token in _NUMBERS:
            below = (below or 0) + _NUMBERS[token]
        elif token == "hundred":
            below = (1 if below is None else below) * 100
        elif token in _LARGE:
            total, below = total + (1 if below is None else below) * _LARGE[token], None
        elif token != "and":
            break
    return total + (below or 0)
