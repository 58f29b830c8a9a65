"""An identical request of a question is answered once, with the image in the file that the user gave."""

from __future__ import annotations

import io
from dataclasses import dataclass, field

import pytest
from PIL import Image

from pyvision.agent.budget import Limits
from pyvision.agent.episode import Episode
from pyvision.errors import LimitReached, ToolError
from pyvision.events import Event, ToolRun
from pyvision.images.read import decode
from pyvision.models.scripted import Scripted
from pyvision.types import Ask, Observation, Picture, Question, ToolRequest
from tests.doubles import CannedSandbox, picture


@dataclass
class Eye:
    """A tool that counts what it is asked; it fails the first time if told so."""

    is_repeatable: bool = True
    fails: bool = False
    requests: list[ToolRequest] = field(default_factory=list)
    name: str = "vqa"
    purpose: str = "for tests"

    def __call__(self, request: ToolRequest, ask: Ask) -> Observation:
        self.requests.append(request)
        if self.fails and len(self.requests) == 1:
            raise ToolError("not yet")
        return Observation(f"answer {len(self.requests)}")


def uses(
    eye: Eye, *requests: ToolRequest, images: tuple[Picture, ...] = (), limits: Limits | None = None
) -> list[ToolRun]:
    """The uses of the tool in one question, as they are recorded."""
    events: list[Event] = []
    episode = Episode(
        Question("?", images),
        {"default": Scripted([])},
        limits or Limits(),
        CannedSandbox(),
        events.append,
        tools={"vqa": eye},
    )
    for request in requests:
        episode.call_tool("vqa", request)
    return [event for event in events if isinstance(event, ToolRun)]


def photo(width: int = 40, height: int = 30, quality: int = 60) -> Picture:
    image = Image.radial_gradient("L").resize((width, height)).convert("RGB")
    file = io.BytesIO()
    image.save(file, "JPEG", quality=quality)
    return decode(file.getvalue(), "photo")


def as_sent(photo: Picture, form: str) -> Picture:
    """As a kernel sends the whole image to the host: its pixels, in a new file."""
    file = io.BytesIO()
    image = Image.open(io.BytesIO(photo.data))
    if form == "PNG":
        image.save(file, "PNG", compress_level=1)
    else:
        image.save(file, "JPEG", quality=95, subsampling=0)
    return decode(file.getvalue(), "crop")


def test_an_identical_request_is_made_once() -> None:
    eye = Eye()
    request = ToolRequest("red?", picture(), {"texts": ["a"]})
    first, second = uses(eye, request, ToolRequest("red?", picture(), {"texts": ["a"]}))
    assert len(eye.requests) == 1
    assert second.observation == first.observation


def test_the_record_says_which_observation_was_used_again() -> None:
    assert [use.is_cached for use in uses(Eye(), ToolRequest("a"), ToolRequest("a"))] == [False, True]


@pytest.mark.parametrize(
    "other",
    [
        ToolRequest("blue?", picture()),
        ToolRequest("red?", picture(colour="black")),
        ToolRequest("red?", picture(), {"long": True}),
        ToolRequest("red?"),
    ],
)
def test_a_request_that_differs_is_made(other: ToolRequest) -> None:
    eye = Eye()
    uses(eye, ToolRequest("red?", picture()), other)
    assert len(eye.requests) == 2


def test_a_tool_that_does_not_say_that_it_is_repeatable_is_asked_each_time() -> None:
    eye = Eye(is_repeatable=False)
    uses(eye, ToolRequest("a"), ToolRequest("a"))
    assert len(eye.requests) == 2


def test_a_failure_is_tried_again() -> None:
    failed, again, cached = uses(Eye(fails=True), *[ToolRequest("a")] * 3)
    assert failed.observation.error == "not yet"
    assert (again.observation.text, again.is_cached) == ("answer 2", False)
    assert cached.is_cached


def test_a_use_that_is_answered_from_the_cache_counts() -> None:
    with pytest.raises(LimitReached):
        uses(Eye(), *[ToolRequest("a")] * 3, limits=Limits(max_uses=2))


@pytest.mark.parametrize("form", ["PNG", "JPEG"])
def test_a_whole_image_from_the_kernel_is_sent_as_the_users_file(form: str) -> None:
    original, eye = photo(), Eye()
    uses(eye, ToolRequest("?", as_sent(original, form)), images=(picture(), original))
    assert eye.requests[0].picture == original


def test_an_image_with_one_other_pixel_is_sent_as_it_is() -> None:
    original, eye = photo(), Eye()
    image = Image.open(io.BytesIO(original.data)).convert("RGB")
    image.putpixel((3, 3), (255, 0, 0))
    file = io.BytesIO()
    image.save(file, "PNG")
    drawn = decode(file.getvalue(), "drawn")
    uses(eye, ToolRequest("?", drawn), images=(original,))
    assert eye.requests[0].picture == drawn
