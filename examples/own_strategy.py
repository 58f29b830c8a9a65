"""A strategy of your own: let the code loop answer several times, and take the answer given most often.

python examples/own_strategy.py [--model offline]
"""

import argparse
from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

import pyvision
from pyvision.agent.episode import Episode
from pyvision.strategies.code_loop import CodeLoop
from pyvision.types import Answer, Question


@dataclass(frozen=True, slots=True)
class MajorityVote:
    votes: int = 3  # its fields are its options
    roles: ClassVar[tuple[str, ...]] = ("solver",)
    tools: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[tuple[str, ...]] = ()
    continues: ClassVar[bool] = False
    runs_code: ClassVar[bool] = True

    def solve(self, question: Question, episode: Episode) -> Answer:
        answers = [CodeLoop().solve(question, episode).text for _ in range(self.votes)]
        episode.note("votes", answers=answers)
        counted = Counter(answer for answer in answers if answer is not None).most_common(1)
        return Answer(counted[0][0]) if counted else Answer(None, "no_answer")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", help="as for `pyvision run`; without it, the environment decides")
    model = parser.parse_args().model
    question, images = "How many red circles are there?", ["examples/shapes.png"]
    print(pyvision.answer(question, images, strategy=MajorityVote(), model=model).answer)


if __name__ == "__main__":
    main()
