"""A real systemd in a container that is thrown away: an ordinary user with a session of its own.

Needs root, and the Debian packages systemd-container, dbus-user-session and libpam-systemd. The
checkout is seen in there where it is on this machine, read-only.
"""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
USER = "desk"
MODELS = (
    "whisper-base",
    "en_US-joe-medium",
    "qwen2.5-coder-0.5b-instruct",
    "qwen2.5-coder-1.5b-instruct",
)
_BOOT_UNIT = """\
[Unit]
After=multi-user.target
[Service]
Type=oneshot
TimeoutStartSec=infinity
ExecStart=/bin/bash /box-start
"""
_START = f"""\
uid=$(id -u {USER})
until [ -S /run/user/$uid/bus ]; do sleep 0.2; done
runuser -u {USER} -- env -i HOME=/home/{USER} USER={USER} PATH=/usr/bin:/bin LANG=C.UTF-8 \\
  XDG_RUNTIME_DIR=/run/user/$uid DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/$uid/bus \\
  bash -c 'cd; exec bash /box-script' > /box-output 2>&1
systemctl poweroff --force
"""


def run_in_systemd(script: str, *, limit_s: int) -> str:
    """Boot, run ``script`` as the user, and return what it printed; ends after ``limit_s``."""
    with _root_folder() as root:
        passwd = root / "etc/passwd"
        if f"\n{USER}:" not in passwd.read_text():
            subprocess.run(["chroot", root, "useradd", "--create-home", USER], check=True)
        units = root / "etc/systemd/system"
        (root / "var/lib/systemd/linger").mkdir(parents=True, exist_ok=True)
        (root / "var/lib/systemd/linger" / USER).touch()
        (units / "box.service").write_text(_BOOT_UNIT)
        (units / "multi-user.target.wants").mkdir(exist_ok=True)
        (units / "multi-user.target.wants/box.service").symlink_to("../box.service")
        (root / "box-start").write_text(_START)
        (root / "box-script").write_text(script)
        _open_models(root)
        boot = _boot(root, limit_s)
        output = root / "box-output"
        return output.read_text(errors="replace") if output.exists() else boot


def _boot(root: Path, limit_s: int) -> str:
    environment = os.environ | {"SYSTEMD_SECCOMP": "0"}
    command = ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--boot"]
    # a folder of its own hides this machine's /tmp in there
    hidden = [folder for folder in (ROOT, (ROOT / ".venv").resolve()) if folder.parts[1] == "tmp"]
    binds = [f"--bind-ro={folder}" for folder in hidden]
    done = subprocess.run(
        ["timeout", "--kill-after=15", str(limit_s), *command, *binds, f"--directory={root}"],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    return f"it did not run: {done.stdout[-2_000:]} {done.stderr[-2_000:]}"


def _open_models(root: Path) -> None:
    """Let the user read the models, which belong to whoever made the checkout.

    In the box alone; of a checkout under /tmp, which is bound into it, the folders themselves.
    """
    for name in MODELS:
        folder = (ROOT / "models" / name).resolve()
        inside = folder if folder.parts[1] == "tmp" else root / folder.relative_to("/")
        subprocess.run(["chmod", "-R", "a+rX", inside], check=True)


@contextmanager
def _root_folder() -> Iterator[Path]:
    """A throw-away overlay over this machine's root."""
    with tempfile.TemporaryDirectory(prefix="systemd-box-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        upper, work, root = (folder / part for part in ("upper", "work", "root"))
        for each in (upper, work, root):
            each.mkdir()
        options = f"lowerdir=/,upperdir={upper},workdir={work}"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, root], check=True)
        try:
            yield root
        finally:
            subprocess.run(["umount", "--recursive", "--lazy", root], check=True)
