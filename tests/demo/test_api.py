"""The demo as a program uses it, through gradio's own client; and how it treats unknown callers."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.demo.conftest import Served, serving

ROOT = Path(__file__).resolve().parents[2]
_SHAPES = ROOT / "examples" / "shapes.png"
_CIRCLES = ROOT / "examples" / "circles.png"


PERSON = ("ada", "byron")


def client_of(url: str, **options: Any) -> Any:
    gradio_client = pytest.importorskip("gradio_client")
    return gradio_client.Client(url, verbose=False, **options)


def ask(client: Any, text: str, *pictures: Path) -> list[str]:
    """The conversation after each update."""
    from gradio_client import handle_file

    message = {"text": text, "files": [handle_file(str(picture)) for picture in pictures]}
    job = client.submit(message, "code_loop", "offline", "", 20, api_name="/ask")
    job.result(timeout=60)
    return ["".join(outputs[0]) for outputs in job.outputs()]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A demo for those with a password, that a proxy shows under a path."""
    folder = tmp_path_factory.mktemp("guarded")
    people = folder / "people"
    people.write_text(":".join(PERSON), encoding="utf-8")
    flags = ("--model", "offline", "--auth-file", str(people), "--root-path", "/eyes")
    with serving(folder, *flags) as served:
        yield served


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_program_asks_and_sees_progress_code_and_answer(guarded: Served) -> None:
    updates = ask(client_of(guarded.url, auth=PERSON), "How many circles are in the image?", _CIRCLES)
    assert "Thinking" in updates[0]
    assert "outcome" in updates[-1]
    assert "<strong>7</strong>" in updates[-1]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_programs_have_conversations_of_their_own(guarded: Served) -> None:
    one, other = client_of(guarded.url, auth=PERSON), client_of(guarded.url, auth=PERSON)
    ask(one, "How many circles are in the image?", _CIRCLES)
    assert "circles" not in ask(other, "What is the size of the image?", _SHAPES)[-1]
    assert "How many circles" in ask(one, "What is the size of the image?", _SHAPES)[-1]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_too_many_pictures_are_refused_in_one_line(guarded: Served) -> None:
    updates = ask(client_of(guarded.url, auth=PERSON), "How many?", *[_SHAPES] * 9)
    assert "9 images are too many" in updates[-1]
    assert "How many?" not in updates[-1]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_question_is_seen_before_its_pictures_are_read(guarded: Served) -> None:
    updates = ask(client_of(guarded.url, auth=PERSON), "How many?", *[_SHAPES] * 9)
    assert "How many?" in updates[0]
    assert "Thinking" in updates[0]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_nobody_comes_in_without_the_password(guarded: Served) -> None:
    with pytest.raises(Exception, match=r"(?i)auth|401|log"):
        client_of(guarded.url)
    with pytest.raises(Exception, match=r"(?i)auth|401|log"):
        client_of(guarded.url, auth=("ada", "wrong"))
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"{guarded.url}gradio_api/info")


def test_behind_a_proxy_the_page_asks_for_everything_under_its_path(guarded: Served) -> None:
    page = urllib.request.urlopen(guarded.url).read().decode()
    assert '"/eyes"' in page or "/eyes/" in page
