"""Helpers in the kernel know where images and figures lie in their originals, and say so when they do not."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from sandbox import CellResult, Sandbox, Session, View

ROOT = Path(__file__).parents[3]
SIZE = (300, 200)


def noise() -> bytes:
    sink = io.BytesIO()
    bands = [Image.effect_noise(SIZE, 90) for _ in range(3)]
    Image.merge("RGB", bands).save(sink, "PNG")
    return sink.getvalue()


@pytest.fixture(scope="module")
def photo(sandbox: Sandbox) -> Iterator[Session]:
    """A session with an image of which a copy of half the size was sent."""
    with sandbox.open({"image_clue_0": noise()}) as session:
        session.define({}, {"image_clue_0": View((150, 100, 0.5, 0.5))})
        yield session


def run(session: Session, code: str) -> CellResult:
    result = session.run(code)
    assert result.status == "ok", result.error
    return result


def printed(session: Session, expression: str) -> str:
    return run(session, f"print({expression})").text.strip()


def chains(count: int) -> dict[str, int]:
    command = [sys.executable, "-m", "benchmarks.frame_chains", "--chains", str(count)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def test_random_chains_are_never_claimed_wrongly() -> None:
    assert chains(40)["wrong"] == 0


@pytest.mark.slow
def test_hundreds_of_random_chains_are_neither_wrong_nor_lost() -> None:
    measured = chains(400)
    assert (measured["wrong"], measured["lost"]) == (0, 0)


@pytest.mark.parametrize(
    ("made", "position"),
    [
        ("image_clue_0.crop((20, 30, 120, 80)).resize((400, 200))", "(22.5, 32.5)"),
        ("image_clue_0.transpose(Image.Transpose.FLIP_LEFT_RIGHT)", "(290.0, 10.0)"),
        ("image_clue_0.rotate(90, expand=True)", "(290.0, 10.0)"),
        ("np.array(image_clue_0)[50:, 100:]", "(110.0, 60.0)"),
        ("np.asarray(image_clue_0)[::-1]", "(10.0, 190.0)"),
        ("Image.fromarray(np.array(image_clue_0)[50:, 100:]).convert('L')", "(110.0, 60.0)"),
        ("np.array(image_clue_0)[50:, 100:].copy()", "(110.0, 60.0)"),
        ("np.pad(np.array(image_clue_0), ((4, 0), (5, 0), (0, 0)))", "(5.0, 6.0)"),
    ],
)
def test_a_position_leads_back_to_the_original(photo: Session, made: str, position: str) -> None:
    assert printed(photo, f"to_original({made}, (10, 10))") == position


@pytest.mark.parametrize(
    "made",
    [
        "Image.fromarray(np.roll(np.array(image_clue_0), 9, axis=1))",
        "Image.new('RGB', (50, 50))",
        "image_clue_0.transform((90, 90), Image.Transform.QUAD, (0, 0, 5, 90, 80, 95, 90, 7))",
        "Image.blend(image_clue_0, image_clue_0.rotate(180), 0.5)",
    ],
)
def test_an_unknown_place_is_an_error_that_says_so(photo: Session, made: str) -> None:
    result = photo.run(f"to_original({made}, (10, 10))")
    assert result.error is not None
    assert "not known" in result.error.message


def test_pixels_that_look_the_same_mirrored_are_in_no_certain_place(photo: Session) -> None:
    code = (
        "from PIL import ImageDraw\n"
        "page = Image.new('RGB', (300, 200)); ImageDraw.Draw(page).ellipse((50, 50, 90, 90), fill='red')\n"
        "image_clue_0.paste(page, (0, 0))\n"
        "to_original(np.array(page)[40:101, 40:101].copy(), (1, 1))"
    )
    with_page = photo.run(code)
    assert with_page.error is not None


def test_a_position_in_the_copy_that_was_sent_leads_to_the_original(sandbox: Sandbox) -> None:
    with sandbox.open({"image_clue_0": noise()}) as session:
        session.define({}, {"image_clue_0": View((150, 100, 0.5, 0.5))})
        assert printed(session, "from_shown(image_clue_0, (10, 20, 30, 40))") == "(20.0, 40.0, 60.0, 80.0)"


def test_the_size_of_the_copy_outlives_a_lost_kernel(sandbox: Sandbox) -> None:
    with sandbox.open({"image_clue_0": noise()}) as session:
        session.define({}, {"image_clue_0": View((150, 100, 0.5, 0.5))})
        assert session.run("import os; os._exit(1)").state == "lost"
        assert printed(session, "from_shown(image_clue_0, (10, 20))") == "(20.0, 40.0)"


@pytest.fixture
def fresh(sandbox: Sandbox) -> Iterator[Session]:
    with sandbox.open({"image_clue_0": noise()}) as session:
        session.define({}, {"image_clue_0": View((150, 100, 0.5, 0.5))})
        yield session


@pytest.mark.parametrize(
    ("box", "units"),
    [
        ("(60, 40, 120, 80)", "original"),
        ("(30, 20, 60, 40)", "shown"),
        ("(200, 200, 400, 400)", "1000"),
        ("(0.2, 0.2, 0.4, 0.4)", "1"),
    ],
)
def test_a_box_can_be_given_in_other_units(fresh: Session, box: str, units: str) -> None:
    (figure,) = run(fresh, f"zoom(image_clue_0, {box}, units={units!r})").figures
    (region,) = figure.regions
    assert region.name == "image_clue_0"
    assert region.target == pytest.approx((60, 40, 120, 80), abs=0.01)


def test_a_figure_knows_what_its_axes_show(fresh: Session) -> None:
    code = "_, axes = plt.subplots(1, 2); axes[0].imshow(image_clue_0); axes[1].imshow(np.array(image_clue_0)[:50])"
    (figure,) = run(fresh, code).figures
    targets = [region.target for region in figure.regions]
    assert [pytest.approx(target, abs=0.01) for target in targets] == [(0, 0, 300, 200), (0, 0, 300, 50)]


def test_a_position_in_a_figure_is_where_its_pixel_was_drawn(fresh: Session) -> None:
    code = (
        "from PIL import ImageDraw\nspot = image_clue_0.point(lambda _: 0)\n"
        "ImageDraw.Draw(spot).rectangle((199, 119, 200, 120), fill=(255, 0, 255))\nplt.imshow(spot)"
    )
    (figure,) = run(fresh, code).figures
    pixels = Image.open(io.BytesIO(figure.data)).convert("RGB")
    spots = [
        (x + 0.5, y + 0.5)
        for x in range(pixels.width)
        for y in range(pixels.height)
        if _is_magenta(pixels.getpixel((x, y)))
    ]
    fresh.define({"image_clue_1": figure.data}, {"image_clue_1": View(regions=figure.regions)})
    mean = tuple(sum(values) / len(spots) for values in zip(*spots, strict=True))
    x, y = json.loads(printed(fresh, f"list(to_original(image_clue_1, {mean}))"))
    assert (x, y) == pytest.approx((200, 120), abs=1)


def _is_magenta(pixel: object) -> bool:
    assert isinstance(pixel, tuple)
    return bool(pixel[0] > 120 and pixel[1] < 60 and pixel[2] > 120)


def test_a_part_of_a_figure_is_zoomed_in_its_original(fresh: Session) -> None:
    (figure,) = run(fresh, "plt.imshow(image_clue_0.crop((50, 50, 150, 150)))").figures
    fresh.define({"image_clue_1": figure.data}, {"image_clue_1": View(regions=figure.regions)})
    run(fresh, "part = zoom(image_clue_1, (60, 60, 80, 70), scale=1)")
    assert printed(fresh, "part == image_clue_0.crop((60, 60, 80, 70))") == "True"


def test_a_figure_without_a_known_image_claims_no_place(fresh: Session) -> None:
    (figure,) = run(fresh, "plt.plot([1, 2])").figures
    fresh.define({"image_clue_1": figure.data}, {"image_clue_1": View(regions=figure.regions)})
    result = fresh.run("to_original(image_clue_1, (5, 5))")
    assert result.error is not None
    assert "shows no known image" in result.error.message


@pytest.mark.parametrize(
    "call",
    [
        "zoom(image_clue_0, (0, 0, 50, 50))",
        "mark(image_clue_0, (9, 9))",
        "mark(image_clue_0, boxes=[(9, 9, 20, 20)], labels='sign')",
        "mark(image_clue_0, points=[(9, 9), (30, 30)], labels=['a', 'b'])",
        "grid(image_clue_0)",
    ],
)
def test_a_helper_at_the_end_of_a_cell_shows_one_figure(fresh: Session, call: str) -> None:
    assert len(run(fresh, call).outputs) == 1


@pytest.mark.parametrize(
    "shapes", ["(50, 50)", "boxes=[(40, 40, 60, 60)]", "points=[(50, 50)]", "points=(50, 50)"]
)
def test_a_mark_is_drawn_where_it_was_asked_for(fresh: Session, shapes: str) -> None:
    code = f"marked = np.array(mark(image_clue_0, {shapes})); plain = np.array(image_clue_0)\n"
    code += "x = np.nonzero((marked != plain).any(axis=(0, 2)))[0]; print(x.size > 0 and 30 < x.min() < 60)"
    assert run(fresh, code).text == "True\n"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("zoom(image_clue_0, (900, 900, 950, 950))", "300 x 200"),
        ("zoom(image_clue_0, (50, 50, 20, 20))", "left < right"),
        ("zoom(image_clue_0, (0, 0, 9, 9), units='percent')", "'percent' are not known"),
        ("from_shown(image_clue_0.crop((0, 0, 9, 9)), (1, 1))", "image_clue_k"),
        ("mark(image_clue_0, [(1, 1)], ['a', 'b'])", "2 labels for 1 marks"),
        ("zoom('photo.png', (0, 0, 9, 9))", "no image"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(fresh: Session, call: str, message: str) -> None:
    result = fresh.run(call)
    assert result.error is not None
    assert message in result.error.message


def test_a_followed_array_is_an_ordinary_array(fresh: Session) -> None:
    assert printed(fresh, "type(np.array(image_clue_0)) is np.ndarray") == "True"


def test_a_followed_image_equals_its_copy(fresh: Session) -> None:
    assert printed(fresh, "image_clue_0.crop().copy() == image_clue_0.crop()") == "True"
