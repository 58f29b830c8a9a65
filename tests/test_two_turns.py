"""A whole conversation with a chat completions server: the second request carries the figure of the first cell."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest
from PIL import Image

import pyvision
from pyvision.events import ImageDefined, ModelCall
from pyvision.trajectory import read_trajectory
from pyvision.types import Picture
from tests.doubles import png
from tests.servers.chat import ChatServer

DRAW = """I draw the number of pixels as a figure.
<code>
```python
digits = {digits!r}
stripes = np.zeros((40, 100, 3), np.uint8)
for place, digit in enumerate(digits):
    stripes[:, place * 20 : place * 20 + 20] = int(digit) * 25
Image.fromarray(stripes)
```
</code>"""


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    path = tmp_path / "photo.png"
    path.write_bytes(png(64, 48, "navy"))
    return path


def digits_in(figure: bytes) -> str:
    """The digits that the cell drew as five grey stripes."""
    with Image.open(io.BytesIO(figure)) as image:
        grey = image.convert("L")
        values = [grey.getpixel((place * 20 + 10, 20)) for place in range(5)]
    return "".join(str(round(float(value) / 25)) for value in values if isinstance(value, int | float))


def test_two_turns_with_the_figure_in_the_second_request(
    tmp_path: Path, photo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digits = f"{random.SystemRandom().randrange(100_000):05d}"
    with ChatServer([DRAW.format(digits=digits), "<answer>\\boxed{seen}</answer>"]) as server:
        monkeypatch.setenv("PYVISION_BASE_URL", server.base_url)
        outcome = pyvision.answer("Which number?", [photo], model="vllm", out=tmp_path / "run")

    assert outcome.answer == "seen"
    first, second = server.pictures(0), server.pictures(1)
    assert first == [photo.read_bytes()]
    assert second[0] == first[0]
    assert digits_in(second[1]) == digits
    assert second[1] not in first

    roles = [message["role"] for message in server.requests[1]["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert server.requests[1]["messages"][:2] == server.requests[0]["messages"]

    events = read_trajectory(tmp_path / "run").events
    (defined,) = (event for event in events if isinstance(event, ImageDefined))
    assert (defined.name, defined.picture.data) == ("image_clue_1", second[1])
    asked = [event for event in events if isinstance(event, ModelCall)]
    sent = [part.data for message in asked[1].messages for part in message.parts if isinstance(part, Picture)]
    assert sent == second
