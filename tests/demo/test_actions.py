from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.agent.budget import Limits
from pyvision.demo.actions import Actions
from pyvision.demo.files import find_file
from pyvision.demo.session_registry import SessionRegistry
from pyvision.demo.settings import ChatOptions, Settings, UploadLimits
from sandbox import Sandbox
from tests.doubles import CannedSandbox, png, printed
from tests.sandbox.processes import wait_until

ANN, BOB = "a" * 32, "b" * 32


@pytest.fixture
def actions(tmp_path: Path) -> Iterator[Actions]:
    with_kernel = CannedSandbox([printed("seen")])
    visitors = SessionRegistry(cast("Sandbox", with_kernel), tmp_path / "out", str, idle_s=60, at_once=2)
    settings = Settings(("offline",), None, Limits())
    (tmp_path / "uploads").mkdir()
    yield Actions(visitors, settings, UploadLimits(), tmp_path / "uploads")
    visitors.close()
    settings.close()


def ask(actions: Actions, secret: str = ANN, **fields: Any) -> dict[str, Any]:
    return actions.act({"act": "ask", "visitor": secret, "text": "What is the size of the image?", **fields})


def upload(actions: Actions, tmp_path: Path, name: str = "photo.png") -> str:
    file = tmp_path / "uploads" / name
    file.write_bytes(png())
    return str(file)


def test_a_question_starts_a_conversation(actions: Actions, tmp_path: Path) -> None:
    found = ask(actions, files=[upload(actions, tmp_path)])
    assert found["chat"]["running"]
    assert [each["title"] for each in found["chats"]] == ["What is the size of the image?"]


def test_a_conversation_belongs_to_its_visitor(actions: Actions) -> None:
    chat = ask(actions)["chat"]["id"]
    for action in ("ask", "stop", "retry", "resume", "cell"):
        fields = {
            "act": action,
            "visitor": BOB,
            "chat": chat,
            "text": "?",
            "question": 1,
            "cell": 0,
            "code": "1",
        }
        assert "gone" in actions.act(fields)["error"]


def test_no_other_file_of_the_server_is_read(actions: Actions, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(png())
    for path in (tmp_path / "secret.png", tmp_path / "uploads" / ".." / "secret.png", "/etc/passwd"):
        assert "not uploaded here" in ask(actions, files=[str(path)])["error"]


def test_a_link_out_of_the_uploads_is_not_followed(actions: Actions, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(png())
    link = tmp_path / "uploads" / "link.png"
    link.symlink_to(tmp_path / "secret.png")
    assert "not uploaded here" in ask(actions, files=[str(link)])["error"]


def test_an_upload_that_has_expired_is_one_line_without_its_path(actions: Actions, tmp_path: Path) -> None:
    path = upload(actions, tmp_path)
    Path(path).unlink()
    assert ask(actions, files=[path])["error"] == "a file cannot be read; attach it again"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"text": "  "}, "the question is empty"),
        ({"text": "x" * 20_001}, "20,001 characters"),
        ({"text": 5}, "sent no text"),
        ({"files": "x"}, "list of files"),
        ({"choice": {"model": "openai"}}, "not offered"),
        ({"choice": {"model": "offline", "strategy": "magic"}}, "unknown strategy"),
        ({"choice": {"model": "offline", "turns": 1000}}, "turns"),
        ({"choice": {"model": "offline", "options": "prompt_file=/etc/passwd"}}, "names a file"),
        ({"regions": [{"image": "image_clue_0", "box": [5, 5, 5, 9]}]}, "region is not valid"),
        ({"regions": [{"image": "<b>", "box": [1, 1, 5, 9]}]}, "region is not valid"),
        ({"regions": [1] * 21}, "at most 20"),
        ({"chat": "nobody"}, "gone"),
        ({"question": 1, "chat": None}, "no question 1"),
        ({"example": 99}, "valid number"),
        ({"act": "rm"}, "unknown request"),
        ({"visitor": "short"}, "reload"),
    ],
)
def test_what_is_not_valid_is_one_line(actions: Actions, fields: dict[str, Any], expected: str) -> None:
    found = ask(actions, **fields)
    assert expected in found["error"]
    assert "\n" not in found["error"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    ),
    st.sampled_from(["ask", "retry", "resume", "cell", "stop", "delete", "connect"]),
    st.sampled_from(
        ["visitor", "chat", "text", "files", "choice", "regions", "question", "cell", "code", "key"]
    ),
)
def test_whatever_a_page_sends_is_answered(value: Any, action: str, key: str) -> None:
    visitors = SessionRegistry(cast("Sandbox", CannedSandbox()), Path("/nowhere"), str, idle_s=60, at_once=1)
    actions = Actions(visitors, Settings(("offline",), None, Limits()), UploadLimits(), Path("/nowhere"))
    assert isinstance(actions.act(value), dict)
    if (key, action) != ("chat", "ask") or value:
        found = actions.act({"act": action, "visitor": ANN, "chat": "x", key: value})
        assert isinstance(found, dict)
    visitors.close()


def test_a_key_is_for_its_visitor_alone(actions: Actions) -> None:
    key = "sk-abcdefghijkl123"
    found = actions.act({"act": "connect", "visitor": ANN, "model": "openai:gpt-4.1", "key": key})
    assert found["model"] in [model["name"] for model in found["models"]]
    assert found["model"] not in [model["name"] for model in actions.overview(BOB)["models"]]
    assert key not in repr(found)
    assert key not in repr(actions.registry.models(ANN))
    assert "not offered" in ask(actions, BOB, choice={"model": found["model"]})["error"]


@pytest.mark.parametrize(
    ("model", "key", "expected"),
    [
        ("azure", "sk-abcdefghijkl123", "a key can be given for"),
        ("vllm", "sk-abcdefghijkl123", "a key can be given for"),
        ("openai", "short", "not a key"),
        ("openai", "a key with spaces", "not a key"),
        ("openai", "schlüssel-123456", "not a key"),
    ],
)
def test_an_invalid_key_is_refused_without_repeating_it(
    actions: Actions, model: str, key: str, expected: str
) -> None:
    error = actions.act({"act": "connect", "visitor": ANN, "model": model, "key": key})["error"]
    assert expected in error
    assert key not in error


def test_a_typed_key_is_written_to_no_file(actions: Actions, tmp_path: Path) -> None:
    key = "sk-abcdefghijkl123"
    own = actions.act({"act": "connect", "visitor": ANN, "model": "openai:gpt-4.1", "key": key})["model"]
    task = actions.settings.task(ChatOptions(model=own), actions.registry.models(ANN))
    assert task.secrets == (key,)
    assert key not in repr(task.config.to_dict())
    assert not any(key.encode() in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def test_examples_have_addresses(actions: Actions) -> None:
    name = actions.offer()["examples"][0]["files"][0]
    file = find_file(actions, f"examples/{name}")
    assert file is not None
    assert file.name == name
    assert find_file(actions, "examples/answer.py") is None


def test_an_image_of_a_conversation_has_an_address_that_names_no_folder_of_the_server(
    actions: Actions, tmp_path: Path
) -> None:
    chat = ask(actions, files=[upload(actions, tmp_path)])["chat"]["id"]
    found = actions.registry.find(ANN, chat)
    assert found is not None
    assert wait_until(lambda: 'src="' in found.state["exchanges"][0]["head"])
    url = found.state["exchanges"][0]["head"].partition('src="')[2].partition('"')[0]
    assert str(tmp_path) not in url
    file = find_file(actions, url)
    assert file is not None
    assert file.read_bytes() == png()
