"""What the openai SDK raises, turned into ModelError by one table; no message ever holds a key."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from pyvision.config import ModelConfig
from pyvision.errors import ModelError

if TYPE_CHECKING:
    import openai

_LONGEST_DETAIL = 300
_UNSUPPORTED = re.compile(
    r"unsupported|support|unrecognized|unknown|not permitted|not allowed|unexpected", re.I
)
_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk|key)-[\w*.…-]{4,}|(?<=Bearer )\S+", re.I)
_QUOTA = "insufficient_quota"

# status -> (worth a retry, what it means and what to do)
_STATUSES: Mapping[int, tuple[bool, str]] = {
    400: (False, "the request was refused (400)"),
    401: (False, "the key was refused (401); set {key}"),
    403: (False, "the key may not use this model (403); set {key} or choose another model"),
    404: (False, "no such model or address (404); check the model id and base_url"),
    408: (True, "the endpoint timed out (408)"),
    409: (True, "the endpoint reports a conflict (409)"),
    413: (False, "the request is too large (413); send fewer or smaller images"),
    422: (False, "the request was refused (422)"),
    425: (True, "the endpoint is not ready (425)"),
    429: (True, "too many requests (429)"),
}


def translated(error: openai.OpenAIError, config: ModelConfig, where: str, *, reached: bool) -> ModelError:
    """The ModelError for what the SDK raised. reached: the endpoint has answered before, or is hosted."""
    import openai

    match error:
        case openai.APIStatusError():
            return _of_status(error, config, where)
        case openai.APITimeoutError():
            return ModelError(f"{where}: no answer within {config.timeout_s:g} s", retry=True)
        case openai.APIConnectionError():
            cause = scrubbed(str(error.__cause__ or error), config)
            refused = type(error.__cause__).__name__ == "ConnectError"
            hint = "; is the server running?" if refused else ""
            return ModelError(f"{where}: cannot be reached ({cause}){hint}", retry=reached or not refused)
        case _:
            return ModelError(f"{where}: {scrubbed(str(error), config)}", retry=True)


def unsupported(error: openai.OpenAIError, sent: Sequence[str]) -> str | None:
    """The parameter we sent that a 400 or 422 calls unsupported, if it names one."""
    import openai

    if not isinstance(error, openai.APIStatusError) or error.status_code not in {400, 422}:
        return None
    said = f"{error.code} {error.message} {error.body}"
    if not _UNSUPPORTED.search(said):
        return None
    named = [name for name in sent if error.param == name or re.search(rf"\b{name}\b", said)]
    return next((name for name in named if name == error.param), named[0] if named else None)


def _of_status(error: openai.APIStatusError, config: ModelConfig, where: str) -> ModelError:
    status = error.status_code
    retry, meaning = _STATUSES.get(status, (status >= 500, f"the endpoint failed ({status})"))
    if status == 429 and _QUOTA in {error.code, error.type}:
        retry, meaning = False, "the quota of this key is used up (429)"
    told = meaning.format(key=config.api_key_env or "PYVISION_API_KEY")
    detail = scrubbed(_detail(error), config)
    after_s = _retry_after(error.response.headers) if retry else None
    return ModelError(
        f"{where}: {told}" + (f": {detail}" if detail else ""), retry=retry, retry_after_s=after_s
    )


def _detail(error: openai.APIStatusError) -> str:
    """What the server said, if it said it in JSON: pages of HTML help nobody."""
    body: Any = error.body
    if isinstance(body, dict):
        nested = body.get("error")
        said = body.get("message") or body.get("detail") or nested
        return str(nested.get("message") if isinstance(nested, dict) else said or "")
    return ""


def scrubbed(text: str, config: ModelConfig) -> str:
    """One line without the key, or anything that looks like one: endpoints echo parts of keys."""
    if config.api_key:
        text = text.replace(config.api_key, "(key)")
    return _KEY_LIKE.sub("(key)", " ".join(text.split()))[:_LONGEST_DETAIL]


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `retry-after` (a number or a date)."""
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers[name]) * unit_s)
        except (KeyError, ValueError):
            continue
    try:
        return max(0.0, parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time())
    except (KeyError, ValueError):
        return None
