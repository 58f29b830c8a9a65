"""Show a run while it happens: the model's text, the cells it ran, what they printed, and the answer.

python examples/stream.py [--model offline]
"""

import argparse

import pyvision
from pyvision.events import CellRun, ImageDefined, ModelCall, RunEnded


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", help="as for `pyvision run`; without it, the environment decides")
    options = parser.parse_args()

    question = "How many rows and columns are in the table?"
    for event in pyvision.stream(question, ["examples/table.png"], model=options.model):
        match event:
            case ModelCall(reply=reply):
                print(f"The model replied with {len(reply.text)} characters.")
            case CellRun(result=result):
                print(f"A cell ran ({result.status}) and printed:\n{result.text.strip()}")
            case ImageDefined(name=name, picture=picture):
                print(f"It displayed a figure of {picture.width} x {picture.height} pixels: {name}")
            case RunEnded(outcome=outcome, turns=turns, seconds=seconds):
                print(f"{outcome.answer} ({turns} turns, {seconds:.1f} s)")


if __name__ == "__main__":
    main()
