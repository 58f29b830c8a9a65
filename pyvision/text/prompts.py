"""Load prompts/<strategy>/<role>.md and fill in their variables; a missing variable is an error."""

from __future__ import annotations

from functools import cache
from string import Template

from pyvision.config.files import data_folder
from pyvision.errors import PromptError


@cache
def load(name: str) -> str:
    """The text of one prompt file, such as `code_loop/system.md`, as it was when first read. Raises PromptError."""
    path = data_folder("prompts") / name
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise PromptError(f"prompt {name!r} cannot be read at {path}: {error.strerror}") from error


def render(name: str, /, **variables: object) -> str:
    """The prompt with each `$variable` replaced (`$$` is a dollar). Exactly its variables must be given."""
    template = Template(load(name))
    if not template.is_valid():
        raise PromptError(f"prompt {name!r}: a $ does not start a variable; write $$ for a dollar")
    known = set(template.get_identifiers())
    if known != variables.keys():
        missing, unknown = sorted(known - variables.keys()), sorted(variables.keys() - known)
        raise PromptError(f"prompt {name!r}: missing variables {missing}, unknown variables {unknown}")
    return template.substitute(variables).rstrip("\n")
