"""The demo as a program uses it, through gradio's own client; and how it treats unknown callers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener, urlopen

import pytest

from tests.demo.conftest import Served, serving

ROOT = Path(__file__).resolve().parents[2]
_SHAPES = ROOT / "examples" / "shapes.png"
_CIRCLES = ROOT / "examples" / "circles.png"


PERSON = ("ada", "byron")


def client_of(url: str, **options: Any) -> Any:
    gradio_client = pytest.importorskip("gradio_client")
    return gradio_client.Client(url, verbose=False, **options)


def ask(client: Any, text: str, *pictures: Path) -> list[dict[str, Any]]:
    """What the demo reported, in order."""
    from gradio_client import handle_file

    images = [handle_file(str(picture)) for picture in pictures]
    job = client.submit(text, images, "code_loop", "offline", api_name="/ask")
    job.result(timeout=60)
    outputs: list[dict[str, Any]] = job.outputs()
    return outputs


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
def test_a_program_sees_progress_before_the_answer(guarded: Served) -> None:
    updates = ask(client_of(guarded.url, auth=PERSON), "How many circles are in the image?", _CIRCLES)
    assert updates[0]["answer"] is None
    assert updates[-1] == {"status": "Answer: 7", "answer": "7"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_programs_have_conversations_of_their_own(guarded: Served) -> None:
    one, other = client_of(guarded.url, auth=PERSON), client_of(guarded.url, auth=PERSON)
    ask(one, "How many circles are in the image?", _CIRCLES)
    ask(other, "What is the size of the image?", _SHAPES)
    ask(one, "What is the size of the image?", _SHAPES)
    runs = [len([run for run in chat.iterdir() if run.name.isdigit()]) for chat in guarded.out.iterdir()]
    assert sorted(runs)[-2:] == [1, 2]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_too_many_pictures_are_refused_in_one_line(guarded: Served) -> None:
    (update,) = ask(client_of(guarded.url, auth=PERSON), "How many?", *[_SHAPES] * 9)
    assert "9 images are too many" in update["status"]


Open = Callable[..., Any]


@pytest.fixture(scope="module")
def open_inside(guarded: Served) -> Open:
    """Opens an address as a visitor who has entered the password."""
    opener = build_opener(HTTPCookieProcessor())
    person = urlencode(dict(zip(("username", "password"), PERSON, strict=True))).encode()
    opener.open(f"{guarded.url}login", person).close()
    return opener.open


def refusal(url: str | Request, open_url: Open = urlopen) -> int:
    """The HTTP status with which this is refused."""
    with pytest.raises(HTTPError) as caught:
        open_url(url)
    caught.value.close()
    return caught.value.code


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_route_requires_the_password(guarded: Served) -> None:
    with pytest.raises(Exception, match=r"(?i)auth|401|log"):
        client_of(guarded.url)
    with pytest.raises(Exception, match=r"(?i)auth|401|log"):
        client_of(guarded.url, auth=("ada", "wrong"))
    action = json.dumps({"data": {}, "component_id": 1, "fn_name": "act", "session_hash": "x"}).encode()
    assert refusal(f"{guarded.url}gradio_api/info") == 401
    request = Request(
        f"{guarded.url}gradio_api/component_server", action, {"Content-Type": "application/json"}
    )
    assert refusal(request) == 401
    assert refusal(f"{guarded.url}chat-files/examples/circles.png") == 401


def test_no_file_of_the_server_has_an_address(guarded: Served, open_inside: Open) -> None:
    for path in (
        "chat-files/../pyproject.toml",
        "chat-files/examples/draw.py",
        "chat-files/examples/%2e%2e/README.md",
    ):
        assert refusal(f"{guarded.url}{path}", open_inside) in (400, 404)
    assert refusal(f"{guarded.url}gradio_api/file={_CIRCLES}", open_inside) == 403


def test_an_example_is_shown_without_a_way_to_run_scripts(guarded: Served, open_inside: Open) -> None:
    with open_inside(f"{guarded.url}chat-files/examples/circles.png") as response:
        assert response.read() == _CIRCLES.read_bytes()
        assert "default-src 'none'" in response.headers["Content-Security-Policy"]


def test_behind_a_proxy_the_page_asks_for_everything_under_its_path(guarded: Served) -> None:
    with urlopen(guarded.url) as response:
        page = response.read().decode()
    assert '"/eyes"' in page or "/eyes/" in page
