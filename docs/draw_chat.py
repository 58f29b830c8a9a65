"""Take docs/chat-*.png: a screenshot of every state of the chat, with models that need no key and no network.

python docs/draw_chat.py [FOLDER]    needs what `scripts/setup test` installs, including chromium
"""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
WIDE, PHONE = {"width": 1000, "height": 680}, {"width": 390, "height": 760}
COLOURS = 96  # a palette keeps the files small
CELL = "I look closer.\n<code>\n```python\n{}\n```\n</code>"
SLOW = (
    "import time\nfor row in range(1, 4):\n    print('row', row, 'is read', flush=True)\n    time.sleep({})"
)
DRAW = "# Show the circles on a grid\nimport matplotlib.pyplot as plt\nplt.imshow(image_clue_0)\nplt.show()"
MATHS = """Each circle has the area $A = \\pi r^2$, so

| circle | $r$ in px | area |
|---|---|---|
| left | 48 | 7 238 |
| right | 24 | 1 810 |

$$\\frac{A_1}{A_2} = \\left(\\frac{r_1}{r_2}\\right)^2 = 4$$

<answer>
\\boxed{$\\frac{A_1}{A_2} = 4$}
</answer>"""


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs"
    replies = (
        CELL.format(DRAW),
        MATHS,
        CELL.format(SLOW.format(1.5)),
        "<answer>\n\\boxed{3}\n</answer>",
        CELL.format(SLOW.format(30)),
    )
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        with serving("--model", "offline") as url:
            draw_offline(browser, url, folder)
        with tempfile.TemporaryDirectory() as config:
            file = Path(config) / "scripted.json"
            file.write_text(json.dumps({"wire": "scripted", "replies": replies}), encoding="utf-8")
            with serving("--config", str(file), "--at-once", "1") as url:
                draw_scripted(browser, url, folder)
        browser.close()


def draw_offline(browser: Any, url: str, folder: Path) -> None:
    for name, size, scheme in (("start", WIDE, "light"), ("dark", WIDE, "dark"), ("phone", PHONE, "light")):
        page = open_page(browser, url, size, scheme)
        save(page, folder / f"chat-{name if name == 'start' else f'{name}-start'}.png")
        page.get_by_role("button", name="How many circles").click()
        wait_for_answer(page)
        save(page, folder / f"chat-{name if name != 'start' else 'answer'}.png")
        if name == "phone":
            page.get_by_role("button", name="Conversations", exact=True).click()
            save(page, folder / "chat-phone-list.png")
        if name == "start":
            draw_dialogs(page, folder)
        page.context.close()


def draw_dialogs(page: Any, folder: Path) -> None:
    page.locator(".chat-cell summary").first.click()
    save(page, folder / "chat-cell.png")
    page.locator(".chat-cell [data-act=edit-cell]").first.click()
    page.locator(".chat-editor textarea").wait_for()
    save(page, folder / "chat-edit-cell.png")
    page.keyboard.press("Escape")
    page.locator("[data-act=edit-question]").click()
    save(page, folder / "chat-edit-question.png")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Use a real model").click()
    save(page, folder / "chat-key.png")
    page.keyboard.press("Escape")
    page.locator(".chat-asked .chat-image").click()
    page.get_by_role("button", name="Mark a region").click()
    for name, value in (("left", 150), ("top", 90), ("right", 330), ("bottom", 200)):
        page.locator(f"#chat-region [name={name}]").fill(str(value))
    save(page, folder / "chat-region.png")
    page.get_by_role("button", name="Ask about it").click()
    page.set_input_files("#chat-file", str(ROOT / "examples" / "shapes.png"))
    page.fill("#chat-box", "What is in this part of the picture?")
    save(page, folder / "chat-attached.png")


def draw_scripted(browser: Any, url: str, folder: Path) -> None:
    page, other = open_page(browser, url, WIDE), open_page(browser, url, WIDE)
    page.set_input_files("#chat-file", str(ROOT / "examples" / "circles.png"))
    ask(page, "How much larger is the left circle?")
    wait_for_answer(page)
    save(page, folder / "chat-maths.png")
    ask(page, "Read the rows.")
    page.locator(".live", has_text="row 2").wait_for()
    save(page, folder / "chat-running.png")
    ask(other, "And what waits here?")
    other.locator(".chat-pending", has_text="queue").wait_for()
    save(other, folder / "chat-queue.png")
    other.get_by_role("button", name="Stop").click()
    page.locator("#question-2 .chat-answer").wait_for()
    ask(page, "Read them slowly.")
    page.locator(".live", has_text="row 1").wait_for()
    page.get_by_role("button", name="Stop").click()
    page.locator("#question-3 p.bad").wait_for()
    save(page, folder / "chat-stopped.png")
    page.set_input_files("#chat-file", {"name": "note.png", "mimeType": "image/png", "buffer": b"no picture"})
    ask(page, "What is it?")
    page.locator("#chat-error", has_text="note.png").wait_for()
    save(page, folder / "chat-refused.png")


def open_page(browser: Any, url: str, size: dict[str, int], scheme: str = "light") -> Any:
    page = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce").new_page()
    page.goto(url)
    page.get_by_role("button", name="How many circles").wait_for()
    return page


def ask(page: Any, text: str) -> None:
    page.fill("#chat-box", text)
    page.keyboard.press("Enter")


def wait_for_answer(page: Any) -> None:
    page.locator(".chat-answer").last.wait_for(timeout=60_000)
    page.locator("#chat[data-running=false]").wait_for()


def save(page: Any, file: Path) -> None:
    page.wait_for_timeout(600)  # images are drawn as they arrive
    with Image.open(io.BytesIO(page.screenshot())) as shot:
        shot.convert("RGB").quantize(COLOURS).save(file, optimize=True)


@contextmanager
def serving(*flags: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "app.py", "--port", "0", "--out", out, *flags]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as demo:
            assert demo.stdout is not None
            try:
                yield demo.stdout.readline().strip()
            finally:
                demo.terminate()


if __name__ == "__main__":
    main()
