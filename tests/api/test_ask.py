from __future__ import annotations

import asyncio
import inspect
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
from PIL import Image

import pyvision
from pyvision.agent.episode import Sandbox as AnySandbox
from pyvision.errors import ConfigError, ImageError, ToolError
from pyvision.events import ModelCall, RunEnded
from pyvision.models.scripted import Scripted
from pyvision.solve import configure, read_images
from tests.doubles import CannedSandbox, picture, png, printed

ANSWER = "<answer>\\boxed{7}</answer>"
LOOK = "I look.\n<code>\n```python\nprint(image_clue_0.size)\nimage_clue_0\n```\n"
ENDLESS = "<code>\n```python\nprint('started', flush=True)\nwhile True: pass\n```\n"


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    path = tmp_path / "photo.png"
    path.write_bytes(png())
    return path


@pytest.mark.parametrize("count", [1, 2])
def test_every_kind_of_image_can_be_one_or_many(photo: Path, count: int) -> None:
    array = numpy.zeros((30, 40, 3), "uint8")
    for image in (photo, str(photo), photo.read_bytes(), Image.new("RGB", (40, 30)), array):
        images = image if count == 1 else [image, image]
        result = pyvision.answer("?", images, model=Scripted([ANSWER]), strategy="direct")
        assert [(each.width, each.height) for each in result.question.images] == [(40, 30)] * count


def test_an_image_from_a_url_is_recorded_without_its_query() -> None:
    ((picture, name),) = read_images("https://example.com/a/cat.png?key=s3cret", lambda url: png(4, 3))
    assert (picture.width, picture.file_name, name) == (4, "cat.png", "https://example.com/a/cat.png")


def test_a_url_that_is_refused_is_an_image_error() -> None:
    def refuse(url: str) -> bytes:
        raise ToolError("not fetched 'http://10.0.0.1/': it is not on the public internet")

    with pytest.raises(ImageError, match="image not fetched 'http://10"):
        read_images("http://10.0.0.1/", refuse)


def test_a_private_address_is_never_asked() -> None:
    with pytest.raises(ImageError, match="not on the public internet"):
        pyvision.answer("?", "http://169.254.169.254/latest/meta-data/", model="offline")


FORMS = ("answer", "stream", "aanswer", "astream", "open")


@pytest.mark.parametrize("name", FORMS)
def test_a_mistyped_argument_names_the_nearest_one(name: str) -> None:
    with pytest.raises(TypeError, match=r"no argument 'stratgy'; did you mean 'strategy'\?"):
        getattr(pyvision, name)(stratgy="direct")


@pytest.mark.parametrize("name", FORMS)
def test_every_setting_is_in_the_signature(name: str) -> None:
    shown = inspect.signature(getattr(pyvision, name)).parameters
    assert {"strategy", "model", "config", "limits", "policy"} <= set(shown)
    assert inspect.Parameter.VAR_KEYWORD not in {each.kind for each in shown.values()}


@pytest.mark.slow  # the signature, which is tested above, is all that jedi reads
@pytest.mark.parametrize("name", FORMS)
def test_notebooks_complete_every_setting(name: str) -> None:
    typed = f"pyvision.{name}("
    completions = pytest.importorskip("jedi").Interpreter(typed, [{"pyvision": pyvision}]).complete()
    assert {"strategy=", "model=", "limits=", "tools="} <= {each.name for each in completions}


def vision_of(sandbox: AnySandbox, *replies: str) -> pyvision.Vision:
    return pyvision.Vision(configure(model=Scripted(replies)), sandbox)


def test_many_questions_share_one_sandbox(photo: Path) -> None:
    sandbox = CannedSandbox([printed("40")])
    with vision_of(sandbox, LOOK, ANSWER, LOOK, ANSWER) as vision:
        results = [vision.ask("How wide?", photo) for _ in range(2)]
    assert [result.cells[0].result.text for result in results] == ["40", "40"]


def test_each_question_opens_a_kernel_of_its_own(photo: Path) -> None:
    sandbox = CannedSandbox([printed("40")])
    with vision_of(sandbox, LOOK, ANSWER, LOOK, ANSWER) as vision:
        for _ in range(2):
            vision.ask("How wide?", photo)
    assert (sandbox.opened, sandbox.closed) == (2, 2)


def test_a_conversation_keeps_the_kernel(photo: Path) -> None:
    sandbox = CannedSandbox([printed("40")])
    with vision_of(sandbox, LOOK, ANSWER, LOOK, ANSWER) as vision:
        conversation = vision.conversation()
        for _ in range(2):
            list(conversation.ask("How wide?"))
        conversation.close()
    assert sandbox.opened == 1


def test_an_open_sandbox_is_closed_with_the_block() -> None:
    with pyvision.open(model=Scripted([])) as vision:
        pass
    assert vision.ask("?", picture()).end_reason == "sandbox_error"


def test_a_stream_knows_its_result_at_its_end(photo: Path) -> None:
    events = pyvision.stream("?", photo, model=Scripted([ANSWER]), strategy="direct")
    assert isinstance(list(events)[-1], RunEnded)
    assert events.result.answer == "7"


def test_a_wrong_setting_raises_in_every_form() -> None:
    async def ask() -> None:
        await pyvision.aanswer("?", model="nonesuch")

    with pytest.raises(ConfigError, match="unknown model"):
        asyncio.run(ask())
    with pytest.raises(ConfigError, match="unknown model"):
        list(pyvision.stream("?", model="nonesuch"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"limits": {"max_turns": 3}}, "limits is {'max_turns': 3}; give a Limits"),
        ({"policy": {"processes": 3}}, "policy is {'processes': 3}; give a Policy"),
        ({"options": ["repairs"]}, "options is ['repairs']; give a Mapping"),
        ({"tools": "ocr"}, "tools is 'ocr'; give a Mapping"),
    ],
)
def test_a_setting_of_another_type_is_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        pyvision.answer("?", model="offline", **settings)


def test_a_question_that_is_no_text_is_named(photo: Path) -> None:
    with pytest.raises(TypeError, match="the question is None; give a str"):
        pyvision.answer(None, photo, model="offline")  # type: ignore[arg-type]


def test_questions_are_answered_together_in_one_event_loop(photo: Path) -> None:
    async def ask() -> list[str | None]:
        models = [Scripted([ANSWER]), Scripted(["<answer>\\boxed{8}</answer>"])]
        asked = [pyvision.aanswer("?", photo, model=model, strategy="direct") for model in models]
        return [result.answer for result in await asyncio.gather(*asked)]

    assert asyncio.run(ask()) == ["7", "8"]


def test_an_async_stream_gives_the_events_in_order(photo: Path) -> None:
    async def ask() -> list[str]:
        events = pyvision.astream("?", photo, model=Scripted([ANSWER]), strategy="direct")
        return [event.kind async for event in events]

    kinds = asyncio.run(ask())
    assert (kinds[0], kinds[-1]) == ("began", "ended")


def producers() -> Iterator[threading.Thread]:
    return (thread for thread in threading.enumerate() if thread.name == "events")


def test_cancelling_an_await_ends_its_cell(photo: Path, tmp_path: Path) -> None:
    async def ask() -> None:
        model = Scripted([ENDLESS])
        task = asyncio.create_task(pyvision.aanswer("?", photo, model=model, out=tmp_path / "run"))
        while not model.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(ask())
    assert not list(producers())
    assert pyvision.load(tmp_path / "run").end_reason == "interrupted"


def test_leaving_an_async_stream_ends_the_run(photo: Path) -> None:
    async def ask() -> None:
        events = pyvision.astream("?", photo, model=Scripted([ENDLESS]))
        async for event in events:
            if isinstance(event, ModelCall):
                break
        await events.aclose()

    asyncio.run(ask())
    assert not list(producers())


def test_the_async_forms_of_a_vision_answer(photo: Path) -> None:
    async def ask() -> Any:
        with pyvision.open(model=Scripted([ANSWER]), strategy="direct") as vision:
            return await vision.aask("?", photo)

    assert asyncio.run(ask()).answer == "7"
