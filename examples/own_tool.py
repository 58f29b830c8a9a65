"""A tool of your own: it runs in this process, and a cell in the sandbox calls it as `host.stock(…)`.

python examples/own_tool.py    scripted replies show what a model would write; put its name in their place
"""

import pyvision
from pyvision.models.scripted import Scripted
from pyvision.types import Ask, Observation, ToolRequest

STOCK = {"apple": 12, "pear": 0}
REPLIES = (
    "<code>\n```python\nprint(host.stock('apple')['count'])\n```\n</code>",
    "<answer>\n\\boxed{12 apples}\n</answer>",
)


class Stock:
    name = "stock"
    purpose = "how many pieces of an article are in stock"  # the model reads this line

    def __call__(self, request: ToolRequest, ask: Ask) -> Observation:
        count = STOCK.get(request.text)
        if count is None:
            return Observation(error=f"unknown article {request.text!r}; known are {', '.join(STOCK)}")
        return Observation(f"{count} in stock", data={"count": count})


def main() -> None:
    outcome = pyvision.answer(
        "How many apples are left?",
        ["examples/shapes.png"],
        model=Scripted(REPLIES),
        tools={"stock": Stock()},  # the provider of the tool
        options={"tools": "stock"},  # the tools that cells may call
    )
    print(outcome.answer)


if __name__ == "__main__":
    main()
