"""What the Dockerfile and deploy/ name exists, and they agree with each other. No container engine is needed."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from pyvision.cli.main import parse
from pyvision.config.model_config import load_model_config

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
_PORT = 7860


def documents(name: str) -> list[dict[str, Any]]:
    return list(pytest.importorskip("yaml").safe_load_all((ROOT / "deploy" / name).read_text()))


@pytest.fixture
def services() -> dict[str, Any]:
    (document,) = documents("compose.yaml")
    return dict(document["services"])


@pytest.fixture
def pod() -> dict[str, Any]:
    deployment, _ = documents("kubernetes.yaml")
    return dict(deployment["spec"]["template"]["spec"])


def docker_command() -> list[str]:
    found = re.search(r"^CMD \[(.*)\]$", DOCKERFILE, re.MULTILINE)
    assert found
    return re.findall(r'"([^"]*)"', found[1])


def test_the_commands_are_those_of_the_program(services: dict[str, Any], pod: dict[str, Any]) -> None:
    for command in (docker_command(), services["pyvision"]["command"], pod["containers"][0]["command"]):
        program, *arguments = command
        options = parse(arguments)
        assert (program, options.host, options.port) == ("pyvision", "0.0.0.0", _PORT)


def test_every_port_is_the_one_of_the_demo(services: dict[str, Any], pod: dict[str, Any]) -> None:
    service = documents("kubernetes.yaml")[1]
    assert f"EXPOSE {_PORT}" in DOCKERFILE
    assert services["pyvision"]["ports"] == [f"{_PORT}:{_PORT}"]
    assert pod["containers"][0]["ports"] == [{"containerPort": _PORT}]
    assert service["spec"]["ports"] == [{"port": _PORT, "targetPort": _PORT}]


def test_the_service_selects_the_pod() -> None:
    deployment, service = documents("kubernetes.yaml")
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"] == labels == deployment["spec"]["selector"]["matchLabels"]


def test_the_pod_runs_as_the_user_of_the_image(pod: dict[str, Any]) -> None:
    user = pod["securityContext"]["runAsUser"]
    assert f"useradd --uid {user} " in DOCKERFILE
    assert f"\nUSER {user}\n" in DOCKERFILE


def test_what_the_image_copies_exists() -> None:
    for source in re.findall(r"^COPY (?!--from)(\S+)", DOCKERFILE, re.MULTILINE):
        assert (ROOT / source).exists(), source


def test_the_image_installs_an_extra_of_the_package() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    found = re.search(r"--constraint (\S+) '\.\[(\w+)\]'", DOCKERFILE)
    assert found
    assert (ROOT / found[1]).is_file()
    assert found[2] in extras


def test_the_composed_model_is_the_one_that_vllm_serves(tmp_path: Path, services: dict[str, Any]) -> None:
    (document,) = documents("compose.yaml")
    file = tmp_path / "vllm.json"
    file.write_text(document["configs"]["vllm"]["content"])
    config = load_model_config(None, file, {})
    served = services["vllm"]["command"]
    assert config.model == served[served.index("--served-model-name") + 1]
    assert config.address == "http://vllm:8000/v1"


def test_the_composed_configuration_is_where_the_command_reads_it(services: dict[str, Any]) -> None:
    (mounted,) = services["pyvision"]["configs"]
    assert str(parse(services["pyvision"]["command"][1:]).config) == mounted["target"]


def test_containers_keep_no_privilege(services: dict[str, Any], pod: dict[str, Any]) -> None:
    assert services["pyvision"]["cap_drop"] == ["ALL"]
    assert services["pyvision"]["security_opt"] == ["no-new-privileges:true"]
    context = pod["containers"][0]["securityContext"]
    assert context["capabilities"] == {"drop": ["ALL"]}
    assert context["allowPrivilegeEscalation"] is False
