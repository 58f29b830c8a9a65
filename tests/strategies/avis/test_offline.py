"""With the offline model every role is played by rules, through the real prompts, over a collection of one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.worlds.seeking.entries import drawing, world
from pyvision.agent.task import Task
from pyvision.events import Event, Note
from pyvision.offline.avis_roles import TitledText, find_avis_reply, find_extract, passages_in
from pyvision.offline.model import Offline
from pyvision.solve import prepare, solve
from pyvision.strategies.avis import Avis
from pyvision.strategies.avis.memory import Memory, SearchNode
from pyvision.strategies.avis.roles import ToolEvidence, judge
from pyvision.text.prompts import load
from pyvision.tools.retrieval.building import add
from pyvision.types import Message, Observation, Outcome, Question, Sampling, Source, Text, Tool
from tests.doubles import CannedSandbox, EpisodeHarness, picture
from tests.strategies.avis.rigs import FakeTool, Given, boxes

CIRCLES = Path(__file__).resolve().parents[3] / "examples" / "circles.png"
RETRIEVALS = Observation(
    "Retrievals: [\n  high confidence: Orlen Bridge (score=97.3),\n  Velt Bridge (score=57.2),\n]",
    {"hits": [{"title": "Orlen Bridge", "score": 0.97}, {"title": "Velt Bridge", "score": 0.57}]},
    (Source("Orlen Bridge", "orlen.png"), Source("Velt Bridge", "velt.png")),
)
KNOWLEDGE = Observation(
    "Knowledge: [\n  Title: Velt Bridge\n  Content: Velt Bridge was finished in 1902. It has 3 arches.\n"
    "  Title: Orlen Bridge\n  Content: Orlen Bridge spans the river Ama. It was finished in 1871 by Tora Lind.\n"
    "It is 310 m long and stands in Greyport. Its keeper is the guild of masons.\n]",
    {"hits": [{"title": "Velt Bridge"}, {"title": "Orlen Bridge"}]},
    (Source("Velt Bridge", "velt.md"), Source("Orlen Bridge", "orlen.md")),
)


def run(question: str, tools: Mapping[str, Sequence[Given]], **options: Any) -> tuple[Outcome, list[Event]]:
    events: list[Event] = []
    built: dict[str, Tool] = {name: FakeTool(name, gives) for name, gives in tools.items()}
    task = Task(
        Question(question, (picture(),)),
        Avis(**options),
        {"default": Offline()},
        tools=built,
    )
    return solve(task, events.append, CannedSandbox()), events


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When was this bridge finished?", "1871"),
        ("How long is this bridge?", "310 m"),
        ("Who finished this bridge?", "Tora Lind"),
        ("Where does this bridge stand?", "Greyport"),
        ("What is the keeper of this bridge?", "guild of masons"),
        ("What is this?", "Orlen Bridge"),
    ],
)
def test_a_simple_question_over_the_own_collection_is_answered_with_its_source(
    question: str, answer: str
) -> None:
    outcome, events = run(question, {"identical_image": [RETRIEVALS], "document": [KNOWLEDGE]})
    assert outcome.answer == answer
    assert outcome.end_reason == "answered"
    (note,) = (e.data for e in events if isinstance(e, Note) and e.label == "answer")
    titles = {source["title"] for source in note["sources"]}
    assert titles == {"Orlen Bridge"}


def test_objects_that_the_collection_does_not_know_lead_on_to_the_whole_picture() -> None:
    tools = {
        "detect": [boxes("arch", "boat")],
        "identical_image": [Observation("", {"hits": []}), Observation("", {"hits": []}), RETRIEVALS],
        "document": [KNOWLEDGE],
    }
    outcome, _ = run("When was this bridge finished?", tools)
    assert outcome.answer == "1871"


def test_an_object_that_the_collection_knows_is_selected_by_its_name() -> None:
    hit = Observation("x", {"hits": [{"title": "Orlen Bridge", "text": "a bridge", "score": 0.9}]})
    none = Observation("", {"hits": []})
    tools = {"detect": [boxes("arch", "boat")], "identical_image": [none, hit], "document": [KNOWLEDGE]}
    outcome, events = run("When was this bridge finished?", tools)
    assert outcome.answer == "1871"
    path = [e.data["action"] for e in events if isinstance(e, Note) and e.label == "verdict"]
    assert path == ["object_select", "web_search"]


def test_what_no_rule_answers_ends_without_an_answer() -> None:
    outcome, _ = run("When was this bridge finished?", {"document": [KNOWLEDGE]})
    assert outcome.answer is None
    assert outcome.end_reason == "no_answer"


def test_circles_that_overlap_are_not_counted() -> None:
    with prepare("How many circles are there?", [CIRCLES], strategy="avis", model="offline") as task:
        outcome = solve(task, lambda event: None, CannedSandbox())
    assert (outcome.answer, outcome.end_reason) == (None, "no_answer")


@pytest.mark.parametrize("mode", ["sequential_object", "sequential_object_search"])
def test_the_fixed_rows_are_played_too(mode: str) -> None:
    tools = {"identical_image": [RETRIEVALS], "document": [KNOWLEDGE], "similar_image": [RETRIEVALS]}
    outcome, _ = run("When was this bridge finished?", tools, mode=mode)
    assert (outcome.answer is not None) == (mode == "sequential_object_search")


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("When was this bridge finished?", ("what is this bridge?", "When was # finished?")),
        ("Who designed the bridge in the picture?", ("what is this bridge?", "Who designed #?")),
        ("What colour is the kite?", ("What colour is the kite?", "#")),
        ("Which bird is this?", ("Which bird is this?", "#")),
        ("Name a river.", ("Name a river.", "#")),
    ],
)
def test_a_question_is_taken_apart_by_its_wording(question: str, parts: tuple[str, str]) -> None:
    opening = load("avis/decompose.md").replace("$question", question)
    reply = find_avis_reply([Message("user", (Text(opening),))])
    assert reply == f"Visual: {parts[0]}\nKnowledge: {parts[1]}"


def test_messages_of_another_strategy_are_left_to_the_other_rules() -> None:
    assert find_avis_reply([]) is None
    assert find_avis_reply([Message("user", (Text("<question>\nHow many?\n</question>"),))]) is None


def test_the_passages_of_a_search_are_read_back() -> None:
    assert [p.title for p in passages_in(KNOWLEDGE.text)] == ["Velt Bridge", "Orlen Bridge"]
    assert passages_in("Title: A\nContent: b") == [TitledText("A", "b")]


@given(st.text(max_size=200), st.text(max_size=300).map(lambda text: f"Title: T\nContent: {text}"))
def test_an_extract_is_in_the_passages(question: str, text: str) -> None:
    found = find_extract(question, text)
    assert found is None or found.answer.split() == [] or found.answer.split()[0] in text


@given(st.text(max_size=200))
def test_no_observation_breaks_the_rules_or_the_reading_of_their_verdict(text: str) -> None:
    scripted = EpisodeHarness([])
    scripted.episode._models.models = {"default": Offline()}
    node = SearchNode("knowledge", "when was Orlen Bridge finished?")
    verdict = judge(ToolEvidence(node.query, "web_search", text or "-"), node, Memory(node), scripted.episode)
    assert verdict.ruling in ("not informative", "answerable")


def test_the_offline_model_says_nothing_it_was_not_given() -> None:
    opening = load("avis/forced.md")
    reply = Offline().complete([Message("user", (Text(opening),))], Sampling())
    assert reply.text == "Answer: unknown"


def test_a_folder_of_documents_answers_with_a_citation(tmp_path: Path) -> None:
    """The tools are those that the offline model has, over a real index; the picture that is asked about is a copy."""
    folder = tmp_path / "collection"
    folder.mkdir()
    detected = next(iter(world(4, 2).entries))
    (folder / "plate.png").write_bytes(drawing(detected).data)
    (folder / "plate.txt").write_text("Orlen Bridge\n")
    (folder / "orlen.md").write_text(
        "# Orlen Bridge\n\nIt spans the Ama. It was finished in 1871 by Tora Lind.\n"
    )
    (folder / "velt.md").write_text("# Velt Bridge\n\nIt was finished in 1902 by Oda Berg.\n")
    index = tmp_path / "index.sqlite"
    add(index, [folder], pytest.fail, lambda done, count: None)
    tools = dict.fromkeys(("identical_image", "similar_image", "document"), f"index:{index}")
    task = prepare(
        "When was this bridge finished?",
        [folder / "plate.png"],
        strategy="avis",
        model="offline",
        tools=tools,
    )
    events: list[Event] = []
    outcome = solve(task, events.append, CannedSandbox())
    assert outcome.answer == "1871"
    (note,) = (e.data for e in events if isinstance(e, Note) and e.label == "answer")
    assert str(folder / "orlen.md") in [source["address"] for source in note["sources"]]
