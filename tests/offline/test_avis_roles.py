from __future__ import annotations

import pytest

from pyvision.offline.avis_roles import find_extract

LAKE = """Knowledge: [
  Title: Lake Anra
  Content: Lake Anra is a lake in the Orl Hills. It is 35 km from Tresk. The lake is 2,120 m long and 1,380 m wide, with
  a depth of 29.5 metres. It was first sounded in 1871 by Tora Lind.,
  Title: Lake Bron
  Content: Lake Bron lies in Mirland. Its maximum depth is 288 metres.,
]"""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How deep is Lake Anra?", "29.5 metres"),
        ("How long is Lake Anra?", "2,120 m"),
        ("How wide is Lake Anra?", "1,380 m"),
        ("How deep is Lake Bron?", "288 metres"),
        ("When was Lake Anra first sounded?", "1871"),
        ("Who first sounded Lake Anra?", "Tora Lind"),
    ],
)
def test_a_sentence_of_the_right_passage_gives_what_is_asked_for(question: str, answer: str) -> None:
    found = find_extract(question, LAKE)
    assert found is not None
    assert found.answer.split()[: len(answer.split())] == answer.split()


def test_a_question_without_a_shared_word_has_no_answer() -> None:
    assert find_extract("Which currency is used there?", LAKE) is None
