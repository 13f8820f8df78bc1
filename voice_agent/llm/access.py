"""Where a model server is and what opens it: checked before the first request, never shown."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from voice_agent.errors import SettingsError

log = logging.getLogger(__name__)

KEY_VARIABLE = "OPENAI_API_KEY"
"""The environment variable that holds the key where no file is named."""

_LONGEST_KEY_CHARS = 8192
_ENDPOINT = "/chat/completions"
_OTHERS_MAY_READ = 0o004


@dataclass(frozen=True)
class Access:
    """A server's address, the model's name on it, and the key (empty: it needs none)."""

    base_url: str
    model: str
    key: str = field(default="", repr=False)

    @property
    def on_this_machine(self) -> bool:
        """Whether the address is the loopback interface's."""
        return _is_loopback(urlsplit(self.base_url))


def server_access(base_url: str, model: str, key_file: str, *, env: Mapping[str, str]) -> Access:
    """Return how a server is reached, from the settings ``llm.*`` and the environment.

    Raises SettingsError, which never holds the key.
    """
    address = _address(base_url)
    if not model:
        raise SettingsError(
            "llm.remote_model is empty: which model is the server to use?",
            mend="voice-agent settings set llm.remote_model NAME",
        )
    key = _key(key_file, env)
    if key and address.scheme == "http" and not _is_loopback(address):
        log.warning("The server's key travels unencrypted: llm.base_url begins with http://.")
    return Access(address.geturl().rstrip("/"), model, key)


def _address(text: str) -> SplitResult:
    if not text:
        raise SettingsError(
            "llm.base_url is empty: where is the server?",
            mend="voice-agent settings set llm.base_url http://localhost:8080/v1",
        )
    try:
        address = urlsplit(text)
        whole = bool(address.hostname) and address.port != 0 and not set(text) & set(" \t\r\n")
    except ValueError:
        whole = False
    if not whole:
        raise _wrong("is no address of a server")
    if address.username is not None or address.password is not None:
        raise _wrong("holds a user name or password; keys belong in the file of llm.api_key_file")
    if address.query or address.fragment:
        raise _wrong("ends in a query, but must be the address that requests are added to")
    if address.path.rstrip("/").endswith(_ENDPOINT):
        raise _wrong(f"ends in {_ENDPOINT}, which is added by itself")
    return address


def _wrong(fault: str) -> SettingsError:
    return SettingsError(
        f"llm.base_url {fault}.",
        mend="It looks like http://localhost:8080/v1: voice-agent settings set llm.base_url URL",
    )


def _is_loopback(address: SplitResult) -> bool:
    host = address.hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def _key(file_name: str, env: Mapping[str, str]) -> str:
    if not file_name:
        return _checked(env.get(KEY_VARIABLE, ""), KEY_VARIABLE, None)
    file = Path(file_name).expanduser()
    try:
        readable_by_all = file.stat().st_mode & _OTHERS_MAY_READ
        with file.open("rb") as opened:
            content = opened.read(_LONGEST_KEY_CHARS + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "that is no path"
        raise SettingsError(
            f"The key file {file} (llm.api_key_file) cannot be read: {reason}.",
            mend="Name the file that holds the key and nothing else.",
            file=file,
        ) from error
    if readable_by_all:
        log.warning("Everyone on this machine can read the key file: chmod 600 '%s'", file)
    key = _checked(content.decode("latin-1"), f"The key file {file} (llm.api_key_file)", file)
    if not key:
        raise SettingsError(
            f"The key file {file} (llm.api_key_file) is empty.",
            mend="Put the server's key into it.",
            file=file,
        )
    return key


def _checked(text: str, place: str, file: Path | None) -> str:
    key = text.strip()
    if len(key) > _LONGEST_KEY_CHARS or not (key.isascii() and key.isprintable()) or " " in key:
        raise SettingsError(
            f"{place} does not hold a key.",
            mend="It must hold the server's key, one word of plain letters and digits.",
            file=file,
        )
    return key
