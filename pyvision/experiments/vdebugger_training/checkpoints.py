"""The folder of a training: what it is about, its last checkpoint, how far it came, and the model at the end."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pyvision.errors import ConfigError, RunFolderError, reason
from pyvision.experiments.vdebugger_training.recipe import Recipe
from pyvision.experiments.vdebugger_training.records import Example

_ABOUT = "training.json"
_LATEST = "checkpoint"
_STATE = "state.pt"
_BARE = "{{ bos_token or '' }}{% for message in messages %}{{ message['content'] }}{% endfor %}"


class TrainingFolder:
    """Where a training keeps itself. Raises ConfigError for the folder of another one, RunFolderError by the disk."""

    def __init__(self, folder: Path, about: dict[str, Any]) -> None:
        self.folder = folder
        path = folder / _ABOUT
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
            before = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise RunFolderError(
                f"{folder}: cannot hold a training ({reason(error)}); choose another --out"
            ) from error
        changed = sorted(key for key in about.keys() | before.keys() if about.get(key) != before.get(key))
        if changed:
            raise ConfigError(
                f"{folder}: holds another training ({', '.join(changed)} differ); choose another --out"
            )

    @property
    def is_finished(self) -> bool:
        return (self.folder / "config.json").exists() and not self.checkpoint.exists()

    @property
    def checkpoint(self) -> Path:
        """The folder of the last checkpoint, whether there is one or not."""
        return self.folder / _LATEST

    def save(self, model: Any, state: dict[str, Any]) -> None:
        """Put a checkpoint in the place of the last one; a broken-off attempt leaves that one whole."""
        import torch

        new = self.folder / f"{_LATEST}-new"
        shutil.rmtree(new, ignore_errors=True)
        model.save_pretrained(new)
        torch.save(state, new / _STATE)
        old = self.folder / f"{_LATEST}-old"
        shutil.rmtree(old, ignore_errors=True)
        if self.checkpoint.exists():
            self.checkpoint.rename(old)
        new.rename(self.checkpoint)
        shutil.rmtree(old, ignore_errors=True)

    def state(self) -> dict[str, Any]:
        """What was saved beside the last checkpoint's weights; empty where there is none."""
        import torch

        path = self.checkpoint / _STATE
        return torch.load(path, weights_only=True) if path.exists() else {}

    def finish(self, model: Any, tokenizer: Any) -> None:
        """Save the trained model where others can load it, and drop the checkpoint.

        A server of chats that loads it passes the text of a turn on as it is: so the model was trained.
        """
        tokenizer.chat_template = _BARE
        model.save_pretrained(self.folder)
        tokenizer.save_pretrained(self.folder)
        shutil.rmtree(self.checkpoint, ignore_errors=True)


def about(examples: Sequence[Example], model: str, recipe: Recipe) -> dict[str, Any]:
    """What tells one training from another."""
    written = json.dumps([asdict(example) for example in examples], sort_keys=True).encode()
    settings = {key: value for key, value in asdict(recipe).items() if key != "save_every"}
    return {"model": model, "lessons": hashlib.sha256(written).hexdigest()[:32], "recipe": settings}
