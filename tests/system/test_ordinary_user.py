"""What an ordinary user meets whose places cannot be written, and how closed the service is."""

import re
from pathlib import Path

import pytest
from systemd_box import ROOT, USER, run_in_systemd

SCRIPT = Path(__file__).parent / "ordinary_user.sh"
DATA = f"/home/{USER}/.local/share/voice-agent"
LIMIT_S = 120
README = ROOT / "README.md"


@pytest.fixture(scope="module")
def met() -> dict[str, str]:
    """What the script printed."""
    shown = run_in_systemd(SCRIPT.read_text().replace("@CHECKOUT@", str(ROOT)), limit_s=LIMIT_S)
    found = dict(re.findall(r"^(\w+)=(.*)$", shown, flags=re.MULTILINE))
    assert found.get("finished") == "yes", shown[-4_000:]
    return found


@pytest.mark.parametrize("verb", ["ask", "history", "library"])
def test_data_that_cannot_be_written_are_named_with_their_mend(
    met: dict[str, str], verb: str
) -> None:
    assert met[f"{verb}_code"] == "1"
    assert f"Permission denied. Let yourself write in {DATA}: chmod" in met[f"{verb}_said"]
    assert "unexpected" not in met[f"{verb}_said"]


def test_the_mend_mends_it(met: dict[str, str]) -> None:
    assert met["advice"] == f"chmod u+rwx '{DATA}'"
    assert (met["mended_code"], "nothing has been asked" in met["mended_said"]) == ("0", True)


def test_settings_that_cannot_be_written_are_named_with_their_mend(met: dict[str, str]) -> None:
    assert met["settings_code"] == "1"
    assert f"Let yourself write in /home/{USER}/closed: chmod" in met["settings_said"]


def test_the_service_is_as_closed_as_the_readme_says(met: dict[str, str]) -> None:
    (told,) = re.findall(r"systemd-analyze --user security`:\s+([\d.]+), of 10", README.read_text())
    assert f"voice-agent.service: {told} " in met["exposure"]
