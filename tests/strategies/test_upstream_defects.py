"""The defects of the original PyVision, each absent here: cells run in a real, isolated kernel."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pyvision.agent.episode import Limits
from pyvision.agent.task import Task
from pyvision.events import CellRun, Event
from pyvision.models.scripted import Scripted
from pyvision.solve import solve
from pyvision.strategies.code_loop import CodeLoop
from pyvision.types import Model, Outcome, Picture, Question
from sandbox import Policy, Sandbox
from tests.doubles import picture

ANSWER = "<answer>\\boxed{7}</answer>"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Policy(cell_timeout_s=4)) as sandbox:
        yield sandbox


class Run:
    """A question answered by a script, with what the model received after each cell."""

    def __init__(self, sandbox: Sandbox, *replies: str, images: int = 1, max_turns: int = 20) -> None:
        self.model = Scripted(replies)
        self.events: list[Event] = []
        question = Question("How many?", tuple(picture(40 + 10 * i) for i in range(images)))
        models: dict[str, Model] = {"default": self.model}
        task = Task(question, CodeLoop(), models, Limits(max_turns=max_turns))
        self.outcome: Outcome = solve(task, self.events.append, sandbox)

    def request_text(self, turn: int) -> str:
        return self.model.requests[turn][-1].text

    def pictures(self, turn: int) -> list[Picture]:
        return [part for part in self.model.requests[turn][-1].parts if isinstance(part, Picture)]

    @property
    def statuses(self) -> list[str]:
        return [event.result.status for event in self.events if isinstance(event, CellRun)]


def cell(code: str) -> str:
    return f"<code>\n```python\n{code}\n```\n"


def test_defect_2_a_model_that_never_answers_meets_the_turn_limit(sandbox: Sandbox) -> None:
    run = Run(sandbox, *[cell("1 + 1")] * 3, max_turns=3)
    assert run.outcome.end_reason == "turn_limit"
    assert len(run.statuses) == 2


def test_defect_3_a_new_figure_is_a_variable_under_the_number_shown(sandbox: Sandbox) -> None:
    draw = "plt.figure(figsize=(2, 1)); plt.plot([0, 1]); plt.show()"
    run = Run(sandbox, cell(draw), cell("print(type(image_clue_1).__module__, image_clue_1.size)"), ANSWER)
    (figure,) = run.pictures(1)
    assert "<image_clue_1>" in run.request_text(1)
    assert f"({figure.width}, {figure.height})" in run.request_text(2)
    assert "PIL" in run.request_text(2)


def test_defect_4_an_error_keeps_all_that_the_cell_gave(sandbox: Sandbox) -> None:
    run = Run(sandbox, cell("print('so far')\nplt.plot([0, 1]); plt.show()\n1 / 0"), ANSWER)
    assert "so far" in run.request_text(1)
    assert len(run.pictures(1)) == 1
    assert "ZeroDivisionError" in run.request_text(1)
    assert "3" in run.request_text(1)
    assert "1 / 0" in run.request_text(1)


@pytest.mark.parametrize(
    ("code", "figures"),
    [
        ("for i in range(3):\n    plt.plot([0, i])\n    plt.show()", 3),
        (
            "def draw():\n    try:\n        plt.plot([0, 1])\n        plt.show()\n    finally:\n        pass\ndraw()",
            1,
        ),
        ("plt.plot([0, 1]); plt.show(block=False)", 1),
        ("import matplotlib.pyplot\nmatplotlib.pyplot.plot([0, 1]); matplotlib.pyplot.show()", 1),
        ("fig, ax = plt.subplots(); ax.plot([0, 1]); fig.show()", 1),
        ("plt.plot([0, 1]);", 1),
        ("image_clue_0.crop((0, 0, 20, 20))", 1),
        ("display(image_clue_0); display(image_clue_0.rotate(90, expand=True))", 2),
    ],
)
def test_defect_5_a_figure_comes_back_in_every_form(sandbox: Sandbox, code: str, figures: int) -> None:
    run = Run(sandbox, cell(code), ANSWER)
    assert run.statuses == ["ok"]
    assert len(run.pictures(1)) == figures


@pytest.mark.parametrize("code", ["import sys; sys.exit()", "import os; os._exit(1)"])
def test_defect_6_a_cell_that_exits_does_not_end_the_session(sandbox: Sandbox, code: str) -> None:
    run = Run(sandbox, cell(code), cell("print(image_clue_0.size)"), ANSWER)
    assert run.statuses[1] == "ok"
    assert "(40, 30)" in run.request_text(2)


def test_defect_7_a_cell_after_a_timeout_gets_its_own_output(sandbox: Sandbox) -> None:
    run = Run(sandbox, cell("import time\nprint('first')\ntime.sleep(600)"), cell("print('second')"), ANSWER)
    assert run.statuses == ["timeout", "ok"]
    assert "first" in run.request_text(1)
    assert "Timeout" in run.request_text(1)
    assert "second" in run.request_text(2)
    assert "first" not in run.request_text(2)


def test_defect_8_a_string_that_looks_dangerous_is_no_reason_to_refuse(sandbox: Sandbox) -> None:
    run = Run(sandbox, cell("print('input( and os.system( are words')"), ANSWER)
    assert "input( and os.system( are words" in run.request_text(1)


def test_defect_9_an_empty_block_is_repaired(sandbox: Sandbox) -> None:
    run = Run(sandbox, cell(""), ANSWER)
    assert run.outcome.answer == "7"
    assert run.statuses == []


def test_defect_9_prose_is_not_run(sandbox: Sandbox) -> None:
    run = Run(sandbox, "I would write <code> here, if I had to.", ANSWER)
    assert run.outcome.answer == "7"
    assert run.statuses == []


def test_defect_10_a_second_question_sees_nothing_of_the_first(sandbox: Sandbox) -> None:
    Run(sandbox, cell("secret = 42; open('left.txt', 'w').write('x')"), ANSWER, images=2)
    look = "import os\nprint('secret' in globals(), 'image_clue_1' in globals(), os.path.exists('left.txt'))"
    run = Run(sandbox, cell(look), ANSWER)
    assert "False False False" in run.request_text(1)


def test_defect_11_several_images_are_several_variables(sandbox: Sandbox) -> None:
    run = Run(
        sandbox, cell("print(image_clue_0.size, image_clue_1.size, image_clue_2.size)"), ANSWER, images=3
    )
    assert "(40, 30) (50, 30) (60, 30)" in run.request_text(1)


def test_defect_12_a_cell_without_any_result_is_a_result(sandbox: Sandbox) -> None:
    run = Run(sandbox, cell("x = 1"), ANSWER)
    assert run.statuses == ["ok"]
    assert run.outcome.answer == "7"


@pytest.mark.parametrize("ending", ["", "</code>", "</code>\n<interpreter>\n3\n</interpreter>\n\\boxed{3}"])
def test_defect_13_the_stop_string_may_be_there_or_not(sandbox: Sandbox, ending: str) -> None:
    run = Run(sandbox, cell("print(6 + 1)") + ending, ANSWER)
    assert run.outcome.answer == "7"
    assert "7" in run.request_text(1)
