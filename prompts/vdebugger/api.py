"""The functions that a visual program may call, as shown to the coder; image_patch.py implements them."""

# ruff: noqa: A002, FBT001, FBT002 - the names and the order are those of the published interface


class ImagePatch:
    """A rectangle of an image.

    left, lower, right, upper: its sides in pixels of the original image. The origin is the bottom left corner: an
    object higher up in the picture has larger upper and lower. width, height: its size. horizontal_center,
    vertical_center: its centre. cropped_image: its pixels, which is what ImagePatch(…) takes.
    """

    def __init__(self, image, left: int | None = None, lower=None, right=None, upper=None):
        """The whole image, or one rectangle of it."""

    def find(self, object_name: str) -> list["ImagePatch"]:
        """A patch for each object of that name in this patch, most certain first. An empty list if there is none."""

    def exists(self, object_name: str) -> bool:
        """Whether an object of that name is inside this patch."""

    def verify_property(self, object_name: str, property: str) -> bool:
        """Whether the object in this patch has the property: a colour, a material, a state. Use a small patch."""

    def best_text_match(self, option_list: list[str]) -> str:
        """The option that describes this patch best."""

    def simple_query(self, question: str | None = None) -> str:
        """The answer to a simple question about this patch, in a word or two; without a question, what it shows."""

    def compute_depth(self) -> float:
        """How far this patch is from the camera; larger is farther."""

    def crop(self, left: int, lower: int, right: int, upper: int) -> "ImagePatch":
        """The part of this patch between these sides, which are measured from this patch's bottom left corner."""

    def overlaps_with(self, left: int, lower: int, right: int, upper: int) -> bool:
        """Whether this patch and a rectangle of the original image have a point in common."""


def best_image_match(list_patches: list[ImagePatch], content: list[str], return_index: bool = False):
    """The patch that the texts describe best, or its index; None if there are no patches."""


def distance(patch_a: ImagePatch, patch_b: ImagePatch) -> float:
    """Pixels between the nearest edges of two patches; negative if they overlap."""


def llm_query(query: str, context: str | None = None, long_answer: bool = True) -> str:
    """What a language model knows without seeing the image; with long_answer=False in a word or two."""


def coerce_to_numeric(string: str, no_string: bool = False) -> float:
    """The number in a text, in digits or in words."""


def bool_to_yesno(bool_answer: bool) -> str:
    """yes for True, no for False."""
