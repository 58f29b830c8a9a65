"""Take docs/run.png: a screenshot of the web demo after the offline model has answered a question about a photograph.

python docs/draw_run.py [FILE]    needs what `scripts/setup test` installs, including chromium
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
QUESTION = "What do the street signs say?"


def main() -> None:
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "run.png"
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "app.py", "--model", "offline", "--port", "0", "--out", out]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as demo:
            assert demo.stdout is not None
            try:
                take_screenshot(demo.stdout.readline().strip(), file)
            finally:
                demo.terminate()


def take_screenshot(url: str, file: Path) -> None:
    image = str(ROOT / "examples" / "street.jpg")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 860, "height": 1800})
        page.goto(url)
        page.wait_for_selector("#chat-early", state="detached")
        page.set_input_files("#chat-file", image)
        page.fill("#chat-box", QUESTION)
        page.keyboard.press("Enter")
        page.wait_for_selector(".chat-answer:has-text('MORRISON')", timeout=300_000)
        page.locator("details:has-text('Ran') > summary").nth(2).click()
        page.wait_for_timeout(1500)
        page.screenshot(path=file)
        browser.close()


if __name__ == "__main__":
    main()
