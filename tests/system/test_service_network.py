"""While only local parts are configured, nothing in the service's unit reaches another address."""

import re
from pathlib import Path

import pytest
from systemd_box import ROOT, run_in_systemd

SCRIPT = Path(__file__).parent / "service_network.sh"
LIMIT_S = 120


@pytest.fixture(scope="module")
def reached() -> dict[str, str]:
    """What a program in the service's unit could reach, by provider and kind of socket."""
    shown = run_in_systemd(SCRIPT.read_text().replace("@CHECKOUT@", str(ROOT)), limit_s=LIMIT_S)
    found = dict(re.findall(r"^(\w+)=(.*)$", shown, flags=re.MULTILINE))
    assert found.get("finished") == "yes", shown[-4_000:]
    return found


@pytest.mark.parametrize("kind", ["tcp", "udp", "tcp6", "names"])
def test_with_local_parts_alone_no_address_is_reached(reached: dict[str, str], kind: str) -> None:
    assert reached[f"local_{kind}"] == "EAFNOSUPPORT"


@pytest.mark.parametrize("kind", ["tcp", "udp", "tcp6", "names"])
def test_with_a_server_configured_the_network_is_there(reached: dict[str, str], kind: str) -> None:
    assert reached[f"openai_{kind}"] == "reached"
