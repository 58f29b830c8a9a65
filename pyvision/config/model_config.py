"""Model configuration: `api_configs/*.json`, the environment and flags become one frozen ModelConfig.

A flag overrides the environment, the environment overrides the file. An empty variable counts as not set.

PYVISION_MODEL        as --model, if neither --model nor --config is given
PYVISION_MODEL_ID     model
PYVISION_BASE_URL     base_url        (also OPENAI_, ANTHROPIC_, GOOGLE_GEMINI_ or GOOGLE_VERTEX_BASE_URL, for files
                      without one)
PYVISION_API_KEY      api_key         (replaces the keys of the file and of the variable that it names as api_key_env)
PYVISION_TEMPERATURE  temperature
PYVISION_MAX_TOKENS   max_tokens
PYVISION_TIMEOUT_S    timeout_s
PYVISION_TOTAL_S      total_s
PYVISION_RETRY_S      retry_s
PYVISION_REASONING    reasoning
PYVISION_DETAIL       detail

All but the first concern endpoints only. With neither flag nor PYVISION_MODEL, `openai` is chosen when
OPENAI_API_KEY is set, `anthropic` when ANTHROPIC_API_KEY is, `gemini` when GEMINI_API_KEY is, else `offline`.

`openai` speaks the responses API with OpenAI, whose current models call tools while they reason only there. At any
other address it speaks chat completions, as every compatible server does.

The configurations of upstream PyVision work unchanged: `{"api_key": […], "base_url": …}` (OpenAI, vLLM) and
`{"azure_openai_api_key": […], "azure_openai_endpoint": …}`.
"""

from __future__ import annotations

import ipaddress
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast
from urllib.parse import urlsplit, urlunsplit

from pyvision.config.files import data_folder, read_settings, schema_of
from pyvision.config.vertex import Vertex
from pyvision.errors import ConfigError, MissingKey, suggest, suggest_nearest

OPENAI_URL = "https://api.openai.com/v1"
ANTHROPIC_URL = "https://api.anthropic.com"
GEMINI_URL = "https://generativelanguage.googleapis.com/v1beta"
Wire: TypeAlias = Literal[
    "openai", "responses", "anthropic", "gemini", "interactions", "local", "offline", "scripted", "replayed"
]
ENDPOINTS = ("openai", "responses", "anthropic", "gemini", "interactions")  # the wires that lead to one
TABLES = ("families", "limits", "reasoning")  # files of api_configs that hold no configuration
_OPENAI = "openai"  # the name whose wire depends on the address
_UPSTREAM_MODEL = "gpt-4.1"  # what upstream uses if its configuration names no model
_AZURE_VERSION = "2024-10-21"
_ABOVE_ZERO = (
    "max_tokens",
    "timeout_s",
    "total_s",
    "retry_s",
    "requests_per_minute",
    "tokens_per_minute",
    "max_concurrent",
)
_CHOICES = {"reasoning": ("low", "medium", "high", "off"), "detail": ("low", "high", "auto", "original")}
_GOOGLE = ("gemini", "interactions")
_DETAILS = {"anthropic": (), **dict.fromkeys(_GOOGLE, ("low", "high", "auto"))}  # of a wire that takes fewer
_NEEDED = {**dict.fromkeys(ENDPOINTS, ("model",)), "local": ("model",), "replayed": ("file",)}
_URL_VARIABLES = {
    **dict.fromkeys(("openai", "responses"), "OPENAI_BASE_URL"),
    "anthropic": "ANTHROPIC_BASE_URL",
    **dict.fromkeys(_GOOGLE, "GOOGLE_GEMINI_BASE_URL"),
    "vertex": "GOOGLE_VERTEX_BASE_URL",
}
_URLS = {"anthropic": ANTHROPIC_URL, **dict.fromkeys(_GOOGLE, GEMINI_URL)}  # others lead to OpenAI
_OTHER_KEYS = {"GEMINI_API_KEY": "GOOGLE_API_KEY"}  # a variable -> the one that is read where it is not set
_PROVIDERS = {
    "gpt": "openai",
    "claude": "anthropic",
    "gemini": "gemini",
}  # how a model's name begins -> its provider
_VARIABLES: Mapping[str, tuple[str, type]] = {
    "PYVISION_MODEL_ID": ("model", str),
    "PYVISION_BASE_URL": ("base_url", str),
    "PYVISION_TEMPERATURE": ("temperature", float),
    "PYVISION_MAX_TOKENS": ("max_tokens", int),
    "PYVISION_TIMEOUT_S": ("timeout_s", float),
    "PYVISION_TOTAL_S": ("total_s", float),
    "PYVISION_RETRY_S": ("retry_s", float),
    "PYVISION_REASONING": ("reasoning", str),
    "PYVISION_DETAIL": ("detail", str),
}


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """One model behind one wire; the keys of a configuration file are exactly these fields.

    base_url_env: a variable that holds base_url. api_version: of Azure OpenAI, whose resource base_url is then.
    api_keys: several, used in turn (`api_key` may be a list in a file). api_key_file: a key on each line; this and
    file (recorded replies, or a script) are relative to the configuration. max_concurrent: calls at once.

    timeout_s: longest silence of the endpoint. total_s: longest reply. retry_s: how long failures worth it are
    retried, in all. stream, stop: whether the endpoint is asked to. refused: parameters, by their names on the wire,
    that are never sent. extra_body: merged into every request. limits: a row of `limits.json`. reasoning: how much the
    model reasons (`config.reasoning`). detail: at how many pixels, or tokens, an image is seen.
    image_placement: where the picture of a tool's result is sent; None: as the doctor found, or as the wire allows.
    vllm: of wire `local`. None: vLLM where it is installed and can load the checkpoint; False: never; True, or the
    arguments of its `LLM`: always. vertex: of wire `gemini`, on Vertex AI; its credentials are those of Google Cloud.
    """

    wire: Wire
    model: str | None = None
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    api_key_env: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    timeout_s: float = 300.0
    retry_s: float = 600.0
    extra_body: dict[str, Any] = field(default_factory=dict)
    replies: tuple[str, ...] | None = None
    file: Path | None = None
    api_keys: tuple[str, ...] = field(default=(), repr=False)
    api_key_file: Path | None = None
    base_url_env: str | None = None
    api_version: str | None = None
    total_s: float = 1800.0
    stream: bool = True
    stop: bool = True
    refused: tuple[str, ...] = ()
    limits: str | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    max_concurrent: int | None = None
    reasoning: Literal["low", "medium", "high", "off"] | None = None
    detail: Literal["low", "high", "auto", "original"] | None = None
    image_placement: Literal["in_result", "after_result"] | None = None
    vllm: bool | dict[str, Any] | None = None
    vertex: Vertex | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key, each once."""
        return tuple(dict.fromkeys(key for key in (self.api_key, *self.api_keys) if key))

    @property
    def address(self) -> str:
        """Where the endpoint is: base_url, or the default of the wire."""
        if self.vertex is not None:
            return self.vertex.address(self.base_url)
        return self.base_url or _URLS.get(self.wire, OPENAI_URL)

    @property
    def source(self) -> str:
        """Who alone can read the opaque content of its replies (`types.Opaque`): the API and the model."""
        return f"{'vertex' if self.vertex else self.wire}:{self.model or ''}"


def load_model_config(name: str | None, file: Path | None, environ: Mapping[str, str]) -> ModelConfig:
    """The model of `--model NAME[:MODEL]` or `--config FILE`, or the one the environment chooses.

    Raises ConfigError: one line that names the file or variable, what is wrong with it, and the fix.
    """
    if name is None and file is None:
        name = default_model(environ)
    environ = _drop_empty(environ)
    config = _read(file) if file is not None else _select(name or "")
    if config.wire in (*ENDPOINTS, "local"):
        config = _with_environment(config, environ)
    if file is None and name is not None and name.partition(":")[0] == _OPENAI:
        config = replace(config, wire="responses" if _is_openai(config.address) else "openai")
    if config.wire in ENDPOINTS:
        config = _with_keys(config, environ)
    if config.vertex is not None:
        config = replace(config, vertex=config.vertex.fill(environ, str(file or name)))
    return _check(config, str(file or name))


def default_model(environ: Mapping[str, str]) -> str:
    """The name that the environment chooses if no flag does."""
    environ = _drop_empty(environ)
    keyed = (name for name in ("openai", "anthropic", "gemini") if f"{name.upper()}_API_KEY" in environ)
    return environ.get("PYVISION_MODEL") or next(keyed, "offline")


def _drop_empty(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that are set: an empty one is not."""
    return {key: value.strip() for key, value in environ.items() if value.strip()}


def list_shipped() -> tuple[str, ...]:
    """The names that `--model` takes, each a file of `api_configs`."""
    files = data_folder("api_configs").glob("*.json")
    return tuple(sorted(path.stem for path in files if path.stem not in TABLES))


def load_shipped(name: str) -> ModelConfig:
    """One of these files as it is, without keys and variables. Raises ConfigError."""
    return _read(data_folder("api_configs") / f"{name}.json")


def key_variables(config: ModelConfig) -> tuple[str, ...]:
    """The variables that may hold the key, the first one first; none for an endpoint that needs no key."""
    variable = config.api_key_env
    return (variable, *filter(None, (_OTHER_KEYS.get(variable),))) if variable else ()


def _is_openai(address: str) -> bool:
    """Whether OpenAI itself is there, in any of its regions."""
    host = urlsplit(address).hostname or ""
    return f".{host}".endswith(f".{urlsplit(OPENAI_URL).hostname}")


def _select(name: str) -> ModelConfig:
    known = list_shipped()
    stem, colon, model = name.partition(":")
    if stem not in known or (colon and not model):
        raise ConfigError(f"unknown model {name!r}; {_suggest_model(name, known)}")
    config = load_shipped(stem)
    if colon and config.wire not in (*ENDPOINTS, "local"):
        raise ConfigError(f"model {name!r}: {stem} takes no model id; use {stem!r}")
    return replace(config, model=model) if model else config


def _suggest_model(name: str, known: Sequence[str]) -> str:
    provider = next((each for start, each in _PROVIDERS.items() if name.lower().startswith(start)), None)
    if provider is not None and ":" not in name:
        return f"did you mean '{provider}:{name}'?"
    names = f"known names are {', '.join(known)}, each also as NAME:MODEL-ID (openai:gpt-4.1)"
    return suggest_nearest(name.partition(":")[0], known) or f"{names}; --config FILE takes a file"


def _read(path: Path) -> ModelConfig:
    content = _translate(_object(path, _text(path)))
    known = [option.name for option in fields(ModelConfig)]
    for key in content:
        if key not in known:
            raise ConfigError(f"{path}: unknown key {key!r}; {suggest(key, known, 'known keys are')}")
    config = _validate(path, json.dumps(content))
    file = config.file and path.parent / config.file
    key_file = config.api_key_file and path.parent / config.api_key_file
    return replace(config, file=file, api_key_file=key_file)


def _translate(content: dict[str, Any]) -> dict[str, Any]:
    """Upstream's keys renamed to ours; a list under `api_key` becomes `api_keys`."""
    ours = dict(content)
    if "azure_openai_endpoint" in content:
        ours["base_url"] = ours.pop("azure_openai_endpoint")
        ours["api_key"] = ours.pop("azure_openai_api_key", None)
        ours.setdefault("api_version", _AZURE_VERSION)
    if isinstance(ours.get("api_key"), list):
        ours["api_keys"] = [*ours.pop("api_key"), *ours.get("api_keys", ())]
        if "wire" not in ours:
            ours |= {"wire": "openai", "model": ours.get("model", _UPSTREAM_MODEL)}
    return ours


def _text(path: Path) -> str:
    try:
        return read_settings(path).decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); give a JSON file") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text (byte {error.start}); give a JSON file") from error


def _object(path: Path, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(
            f"{path}: not JSON at line {error.lineno} column {error.colno}: {error.msg}"
        ) from error
    except RecursionError as error:
        raise ConfigError(f"{path}: nested too deeply for a configuration") from error
    if not isinstance(value, dict):
        raise ConfigError(
            f'{path}: holds a {type(value).__name__}, not an object such as {{"wire": "openai"}}'
        )
    return value


def _validate(path: Path, text: str) -> ModelConfig:
    from pydantic import ValidationError

    try:
        return cast("ModelConfig", schema_of(ModelConfig).validate_json(text, strict=True))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]  # an input may be the key
        where = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{path}: {where}: {first['msg'].lower()}") from None


def _with_environment(config: ModelConfig, environ: Mapping[str, str]) -> ModelConfig:
    if config.base_url is None:
        usual = _URL_VARIABLES.get("vertex" if config.vertex else config.wire, "")
        variables = (config.base_url_env or "", usual)
        config = replace(
            config, base_url=next((environ[name] for name in variables if name in environ), None)
        )
    for variable, (key, kind) in _VARIABLES.items():
        if variable in environ:
            config = replace(config, **{key: _number(variable, environ[variable], kind)})
    return config


def _number(variable: str, text: str, kind: type) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise ConfigError(f"{variable} is {text!r}, not a number; unset it or give one") from None


def _with_keys(config: ModelConfig, environ: Mapping[str, str]) -> ModelConfig:
    """The keys of the environment, else those that the file holds or names."""
    own = config.keys + (_keys_in(config.api_key_file) if config.api_key_file else ())
    forced = environ.get("PYVISION_API_KEY")
    named = next((environ[name] for name in key_variables(config) if name in environ), None)
    keys = (forced,) if forced else own or ((named,) if named else ())
    if not keys and config.api_key_env and not is_local(config.address):
        where = without_credentials(config.address)
        variable = config.api_key_env
        store = f"set {variable} or store it with 'pyvision keys set {variable}'"
        raise MissingKey(f"no key for {where}; {store}, or use --model offline without one")
    return replace(config, api_key=keys[0] if keys else None, api_keys=keys[1:])


def _keys_in(path: Path) -> tuple[str, ...]:
    lines = (line.strip() for line in _text(path).splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))


def _check(config: ModelConfig, source: str) -> ModelConfig:
    for key in _NEEDED.get(config.wire, ()):
        if not getattr(config, key):
            fix = "write local:FOLDER" if config.wire == "local" else "add it"
            raise ConfigError(f"{source}: wire {config.wire!r} needs {key!r}; {fix}")
    if config.base_url_env and not config.base_url:
        raise ConfigError(f"{source}: no address is set; set {config.base_url_env}")
    if config.api_version and not config.base_url:
        raise ConfigError(
            f"{source}: api_version is for Azure and needs the address of the resource as base_url; add it"
        )
    for key, wire in (("vllm", "local"), ("vertex", "gemini")):
        if getattr(config, key) is not None and config.wire != wire:
            raise ConfigError(f"{source}: {key!r} is a setting of wire {wire!r}; leave it out")
    for key in _ABOVE_ZERO:
        value = getattr(config, key)
        if value is not None and not 0 < value < math.inf:
            raise ConfigError(f"{source}: {key} is {value}; it must be above 0")
    _check_choices(config, source)
    if config.temperature is not None and not 0 <= config.temperature < math.inf:
        raise ConfigError(f"{source}: temperature is {config.temperature}; it must be 0 or more")
    if config.base_url is not None and not is_web_address(config.base_url):
        address = without_credentials(config.base_url)
        raise ConfigError(
            f"{source}: base_url {address!r} is not an address such as http://127.0.0.1:8000/v1"
        )
    return config


def _check_choices(config: ModelConfig, source: str) -> None:
    for key, choices in _CHOICES.items():
        value = getattr(config, key)
        if value is not None and value not in choices:
            raise ConfigError(f"{source}: {key} is {value!r}; choose {', '.join(choices)}")
    details = _DETAILS.get(config.wire, _CHOICES["detail"])
    if config.detail is not None and config.detail not in details:
        offered = f"choose {', '.join(details)}" if details else "leave it out"
        raise ConfigError(
            f"{source}: detail {config.detail!r} is not a setting of wire {config.wire!r}; {offered}"
        )


def is_local(base_url: str | None) -> bool:
    """Whether the endpoint runs on this machine, and so is assumed to need no key."""
    host = urlsplit(base_url or OPENAI_URL).hostname or ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return address.is_loopback or address.is_unspecified


def without_credentials(url: str) -> str:
    """The address without the name, the password and the query that may stand in it."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url.rpartition("@")[2]
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def is_web_address(url: str) -> bool:
    """Whether it is a usable http or https address."""
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, brackets that do not match
        return False
