"""`pyvision models`: the providers, what each needs, and the models that an endpoint offers."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyvision.config.environment import environment

if TYPE_CHECKING:
    from pyvision.config.model_config import ModelConfig
    from pyvision.models.listing import ListedModel, LocalEndpoint

_SEES = {True: "  sees images", False: "  text only", None: ""}


def add_models(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the command and its flags."""
    parser = commands.add_parser(
        "models",
        description="List the providers that --model accepts, the variables that each needs, and whether they are "
        "set; values are never shown. Endpoints on this machine are asked for their models, others only with --list.",
    )
    parser.add_argument(
        "--list", metavar="NAME", help="ask this provider for its models, such as --list openai"
    )
    parser.add_argument("--json", action="store_true", help="print a JSON object instead of a table")
    parser.set_defaults(call=run_models)


def run_models(options: argparse.Namespace) -> int:
    """Print the providers, or the models of one; returns the exit code."""
    if options.list:
        _print_models(options.list, as_json=options.json)
    else:
        _print_providers(environment(), as_json=options.json)
    return 0


def _print_models(name: str, *, as_json: bool) -> None:
    from pyvision.config.model_config import ENDPOINTS, load_model_config
    from pyvision.errors import ConfigError
    from pyvision.models.listing import list_models

    config = load_model_config(name, None, environment())
    if config.wire not in ENDPOINTS:
        raise ConfigError(
            f"--list {name!r}: this model has no endpoint; pyvision models shows those that have one"
        )
    provider = name.partition(":")[0]
    models = list_models(config)
    if as_json:
        _print_json({"provider": provider, "models": [_describe(model) for model in models]})
    else:
        _print("\n".join(f"{provider}:{model.id}{_SEES[model.sees]}" for model in models))


def _print_providers(environ: Mapping[str, str], *, as_json: bool) -> None:
    from pyvision.config.model_config import default_model, list_shipped, load_shipped
    from pyvision.models.listing import find_local

    configs = {name: load_shipped(name) for name in list_shipped()}
    running = {endpoint.name: endpoint for endpoint in find_local()}
    default = default_model(environ)
    if as_json:
        providers = [_provider(name, config, environ, running.get(name)) for name, config in configs.items()]
        _print_json({"default": default, "providers": providers})
        return
    rows = [("NAME", "MODEL", "NEEDS")]
    for name, config in configs.items():
        rows.append((name, config.model or "", "; ".join(_needs(config, environ, running.get(name)))))
    _print(_table(rows))
    _print(f"\nwithout --model: {default}")
    for endpoint in running.values():
        offered = ", ".join(model.id for model in endpoint.models) or "no model"
        _print(f"{endpoint.name} at {endpoint.address} offers: {offered}")


def _provider(
    name: str, config: ModelConfig, environ: Mapping[str, str], running: LocalEndpoint | None
) -> dict[str, Any]:
    return {
        "name": name,
        "wire": config.wire,
        "model": config.model,
        "needs": {variable: _is_set(variable, environ) for variable in _variables(config)},
        "models": [_describe(model) for model in running.models] if running else None,
    }


def _needs(config: ModelConfig, environ: Mapping[str, str], running: LocalEndpoint | None) -> Iterator[str]:
    from pyvision.config.model_config import ENDPOINTS, is_local, key_variables
    from pyvision.config.vertex import VERTEX_LOGIN, VERTEX_VARIABLES

    keys = key_variables(config)
    for alternatives in filter(None, (keys, (config.base_url_env,) if config.base_url_env else ())):
        is_set = any(_is_set(variable, environ) for variable in alternatives)
        yield f"{' or '.join(alternatives)} ({'set' if is_set else 'not set'})"
    if config.vertex is not None:
        is_set = _is_set(VERTEX_VARIABLES[0], environ)
        yield f"{VERTEX_VARIABLES[0]} ({'set' if is_set else 'not set'})"
        yield f"{VERTEX_LOGIN}, or a key file; pip install 'pyvision-agent[vertex]'"
    elif config.wire == "local":
        yield "a folder with a checkpoint (local:FOLDER)"
    elif config.wire not in ENDPOINTS:
        yield "nothing"
    elif is_local(config.address):
        state = "" if keys else " (running)" if running else " (not found)"  # one with keys is not asked
        yield f"a server at {config.address}{state}"


def _variables(config: ModelConfig) -> tuple[str, ...]:
    from pyvision.config.model_config import key_variables
    from pyvision.config.vertex import VERTEX_VARIABLES

    project = VERTEX_VARIABLES[:1] if config.vertex is not None else ()
    return (*key_variables(config), *project, *filter(None, (config.base_url_env,)))


def _is_set(variable: str, environ: Mapping[str, str]) -> bool:
    return bool(environ.get(variable, "").strip())


def _describe(model: ListedModel) -> dict[str, Any]:
    return {"id": model.id, "sees": model.sees}


def _table(rows: Sequence[tuple[str, str, str]]) -> str:
    widths = [max(len(row[column]) for row in rows) + 2 for column in range(2)]
    return "\n".join(f"{name:{widths[0]}}{model:{widths[1]}}{needs}".rstrip() for name, model, needs in rows)


def _print_json(value: Mapping[str, Any]) -> None:
    import json

    _print(json.dumps(value, ensure_ascii=False))


def _print(text: str) -> None:
    print(text)  # noqa: T201 - what the command is for
