"""The SDKs of the providers understand the model server: whole replies, streams, thoughts, stops and refusals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.servers.conversation import ServedReply
from tests.servers.server import ModelServer

if TYPE_CHECKING:
    import anthropic
    import openai

HELLO: Any = [{"role": "user", "content": "hello"}]
THOUGHT = ServedReply("good morning", reasoning="it is early")


@contextmanager
def openai_client(said: str | ServedReply) -> Iterator[openai.OpenAI]:
    import openai

    with (
        ModelServer([said]) as server,
        openai.OpenAI(base_url=server.base_url, api_key="k", max_retries=0) as sdk,
    ):
        yield sdk


@contextmanager
def anthropic_client(said: str | ServedReply) -> Iterator[anthropic.Anthropic]:
    import anthropic

    with (
        ModelServer([said]) as server,
        anthropic.Anthropic(base_url=server.root_url, api_key="k", max_retries=0) as sdk,
    ):
        yield sdk


def test_chat_completions_whole() -> None:
    with openai_client(THOUGHT) as sdk:
        reply = sdk.chat.completions.create(model="m", messages=HELLO, logprobs=True)
    choice = reply.choices[0]
    assert (choice.message.content, choice.finish_reason) == ("good morning", "stop")
    assert (choice.message.model_extra or {})["reasoning_content"] == "it is early"
    assert choice.logprobs is not None
    assert reply.usage is not None
    assert reply.usage.completion_tokens == len(choice.logprobs.content or ()) == 3


def test_chat_completions_streamed() -> None:
    with openai_client(ServedReply("good morning", "length")) as sdk:
        asked: Any = {"stream": True, "stream_options": {"include_usage": True}}
        chunks = list(sdk.chat.completions.create(model="m", messages=HELLO, **asked))
    choices = [chunk.choices[0] for chunk in chunks if chunk.choices]
    assert "".join(choice.delta.content or "" for choice in choices) == "good morning"
    assert choices[-1].finish_reason == "length"
    assert chunks[-1].usage.prompt_tokens == 2


def test_responses_whole() -> None:
    with openai_client(THOUGHT) as sdk:
        reply = sdk.responses.create(model="m", input="hello")
    assert (reply.output_text, reply.status) == ("good morning", "completed")
    assert [item.type for item in reply.output] == ["reasoning", "message"]


def test_responses_streamed() -> None:
    with openai_client(ServedReply("good morning", "length")) as sdk:
        events: list[Any] = list(sdk.responses.create(model="m", input="hello", stream=True))
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(deltas) == "good morning"
    assert events[-1].type == "response.incomplete"
    assert events[-1].response.incomplete_details.reason == "max_output_tokens"
    assert events[-1].response.output_text == "good morning"


def test_messages_whole() -> None:
    with anthropic_client(THOUGHT) as sdk:
        reply = sdk.messages.create(model="m", max_tokens=50, messages=HELLO)
    assert [block.type for block in reply.content] == ["thinking", "text"]
    assert (reply.stop_reason, reply.usage.output_tokens) == ("end_turn", 3)


def test_messages_streamed() -> None:
    asked: Any = {"model": "m", "max_tokens": 50, "messages": HELLO, "stop_sequences": ["</code>"]}
    with anthropic_client("one </code> two") as sdk, sdk.messages.stream(**asked) as stream:
        text = "".join(stream.text_stream)
        last = stream.get_final_message()
    assert (text, last.stop_reason, last.stop_sequence) == ("one ", "stop_sequence", "</code>")


def test_a_thought_is_streamed_with_its_signature() -> None:
    asked: Any = {"model": "m", "max_tokens": 50, "messages": HELLO}
    with anthropic_client(THOUGHT) as sdk, sdk.messages.stream(**asked) as stream:
        content: list[Any] = stream.get_final_message().content
    thought, said = content
    assert (thought.type, said.type) == ("thinking", "text")
    assert thought.signature == "sealed"


@pytest.mark.parametrize("finish", ["end", "refusal"])
def test_a_refusal_of_the_responses_api_is_a_refusal(finish: Any) -> None:
    with openai_client(ServedReply("no", finish)) as sdk:
        part: Any = sdk.responses.create(model="m", input="hello").output[0]
    assert part.content[0].type == ("refusal" if finish == "refusal" else "output_text")
