"""Remove secrets from what is written or shown: one function for records, databases and error messages.

Only exact secrets are removed (`config.secrets` lists them), each also in the form that it has in a URL, and only from
the values of texts: never from the names of fields, from numbers or from bytes.

Covered: a secret of at least 12 characters, or of at least 8 with a letter and a digit among them.
Not covered: a shorter secret, such as "x" or "password". Removing it would change words that have nothing to do with
it, so a text that repeats it keeps it; the configuration is still recorded without it. Nor is a secret found that is
encoded in another way, split between two texts, or used as the name of a field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

REDACTED = "[secret]"

_LONG, _LONG_IF_MIXED = 12, 8  # characters from which a match is no accident
_MIXED = re.compile(r"(?=.*[A-Za-z])(?=.*\d)", re.DOTALL)


class Redactor:
    """Removes these secrets; one that is too short to be removed safely is ignored."""

    def __init__(self, secrets: Iterable[str]) -> None:
        found = {secret for secret in secrets if is_redactable(secret)}
        forms = found | {quote(secret, safe="", errors="replace") for secret in found}
        longest_first = sorted(forms, key=lambda form: (-len(form), form))
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if forms else None

    def text(self, text: str) -> str:
        """The text with `[secret]` in the place of every secret."""
        return self._pattern.sub(REDACTED, text) if self._pattern else text

    def value(self, value: Any) -> Any:
        """The same for plain values: every text among them is redacted, names of fields are not."""
        match value:
            case str():
                return self.text(value)
            case Mapping():
                return {name: self.value(item) for name, item in value.items()}
            case list() | tuple():
                return [self.value(item) for item in value]
            case _:
                return value


def is_redactable(secret: str) -> bool:
    """Whether finding it in a text is no accident, so that it can be removed without harm."""
    return len(secret) >= (_LONG_IF_MIXED if _MIXED.match(secret) else _LONG)
