"""Set-up as an ordinary user, and a second one without network: both need root to arrange."""

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"]


@pytest.fixture
def script() -> Iterator[Path]:
    """The script in a folder that everybody may read, with a package that nobody has."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        copy = folder / "system_packages"
        copy.write_bytes((ROOT / "setup" / "system_packages").read_bytes())
        copy.chmod(0o755)
        (folder / "packages.txt").write_text("no-such-package run it shows what is missing\n")
        yield copy


def test_without_root_rights_it_prints_the_one_command_and_fails(script: Path) -> None:
    done = subprocess.run([*AS_NOBODY, script, "run"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "missing: no-such-package (it shows what is missing)" in done.stdout
    assert done.stdout.count("sudo sh -c 'apt-get update && apt-get install") == 1


def test_a_second_set_up_needs_no_network() -> None:
    make = ["make", "--no-print-directory", "setup", "-C", ROOT]
    subprocess.run(make, check=True)
    second = subprocess.run(
        ["unshare", "--net", *make], capture_output=True, text=True, check=False
    )
    assert (second.returncode, second.stdout) == (0, "")
