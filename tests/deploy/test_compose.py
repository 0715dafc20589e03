"""compose.yaml: its schema, and that its names, words and times are the program's."""

import pytest

from gateway.settings import load
from tests.deploy.written import (
    DEPLOY,
    DRAIN,
    MARGIN,
    VARIABLES,
    compose,
    gateways,
    image,
    role_of,
    seconds,
    told,
)

SERVICES = sorted(compose()["services"])


def test_the_file_keeps_to_the_schema_of_compose() -> None:
    status, out = told("check-jsonschema", "--builtin-schema", "vendor.compose-spec", str(DEPLOY / "compose.yaml"))

    assert status == 0, out


def test_there_are_channels_and_two_workers() -> None:
    roles = {name: role_of(service["command"]) for name, service in gateways().items()}

    assert roles == {"channels": "channels", "worker": "worker"}
    assert gateways()["worker"]["deploy"]["replicas"] == 2


@pytest.mark.parametrize("name", sorted(gateways()))
def test_a_gateway_is_given_real_settings_that_go_together(name: str) -> None:
    given = gateways()[name]["environment"]

    assert set(given) <= VARIABLES
    settings = load(given)
    assert settings.redis.url
    assert settings.redis.url.get_secret_value().startswith("redis://redis:")
    assert settings.tape.store == "file"


@pytest.mark.parametrize("name", sorted(gateways()))
def test_a_gateway_keeps_its_data_in_the_one_volume_and_starts_when_redis_answers(name: str) -> None:
    service = gateways()[name]

    assert service["volumes"] == [f"data:{service['environment']['GATEWAY_DATA_DIR']}"]
    assert service["depends_on"] == {"redis": {"condition": "service_healthy"}}
    assert service["init"] is True
    assert service["env_file"] == ["gateway.env"]
    assert service["user"] == dict(image()[-1])["USER"]


@pytest.mark.parametrize("name", sorted(gateways()))
def test_a_stop_has_more_time_than_the_drain(name: str) -> None:
    assert seconds(gateways()[name]["stop_grace_period"]) >= DRAIN + MARGIN


@pytest.mark.parametrize("name", SERVICES)
def test_no_service_may_do_more_than_it_needs(name: str) -> None:
    service = compose()["services"][name]

    assert service["read_only"] is True
    assert [mount.partition(":")[0] for mount in service["tmpfs"]] == ["/tmp"]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["user"].split(":")[0] not in ("", "0", "root")
    assert service["restart"] == "unless-stopped"
    assert "privileged" not in service
    assert "cap_add" not in service


def test_only_the_page_has_a_port_and_only_on_this_machine() -> None:
    ports = {name: service.get("ports", []) for name, service in compose()["services"].items()}
    inside = load(gateways()["channels"]["environment"]).web

    assert ports == {"redis": [], "worker": [], "channels": [f"127.0.0.1:8080:{inside.port}"]}
    assert inside.host == "0.0.0.0"


def test_redis_writes_down_everything_and_is_reached_by_the_gateways_alone() -> None:
    redis, networks = compose()["services"]["redis"], compose()["networks"]
    words = redis["command"]
    options = dict(zip(words[1::2], words[2::2], strict=True))

    assert options == {
        "--appendonly": "yes",
        "--appendfsync": "everysec",
        "--maxmemory-policy": "noeviction",
        "--save": "",
    }
    assert redis["image"].startswith("redis:7.")
    assert redis["volumes"] == ["redis:/data"]
    assert [networks[network]["internal"] for network in redis["networks"]] == [True]
    assert {"data", "redis"} == set(compose()["volumes"])
