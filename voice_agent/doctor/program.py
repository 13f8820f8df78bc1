"""Checks of the program and what it is made of: Python, libraries, models, disk, provider."""

import ctypes.util
import http.client
import os
import re
import shutil
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit

from voice_agent.catalogue import Catalogue, locate
from voice_agent.doctor.findings import Finding, fault, good
from voice_agent.errors import VoiceAgentError
from voice_agent.llm.access import Access, server_access
from voice_agent.places import DATA_VARIABLE, NAME, Places, how_to_write
from voice_agent.settings import Settings

LEAST_PYTHON = (3, 11)
LEAST_FREE_BYTES = 1_000_000_000
PROOF_S = 600
_ANSWER_S = 5.0

Find = Callable[[str], str | None]

_PULSE_PLUGIN = "libasound_module_pcm_pulse.so"


def python() -> Finding:
    """Check the version, and that every package that the program needs is installed."""
    version = ".".join(map(str, sys.version_info[:3]))
    if tuple(map(int, version.split("."))) < LEAST_PYTHON:
        return Finding("python", "mend", f"Python {version} is too old.", "Install 3.11 or newer.")
    missing = [name for name in _required() if not _is_installed(name)]
    if missing:
        return Finding(
            "python", "mend", f"These packages are missing: {', '.join(missing)}.", "make setup"
        )
    return good("python", f"Python {version} in {sys.prefix}, with all packages")


def system_packages(find: Find = ctypes.util.find_library) -> Finding:
    """Check the C libraries that Debian's packages bring, which ``find`` finds by their names."""
    missing = {}
    if find("portaudio") is None:
        missing["libportaudio2"] = "microphone and loudspeaker"
    folders = [Path("/usr/lib"), Path("/usr/lib64"), Path("/usr/local/lib")]
    plugins = [f for folder in folders for f in folder.glob(f"**/alsa-lib/{_PULSE_PLUGIN}")]
    if not plugins:
        missing["libasound2-plugins"] = "reaches PulseAudio and PipeWire"
    if missing:
        text = ", ".join(f"{package} ({why})" for package, why in missing.items())
        mend = f"sudo apt install {' '.join(missing)}"
        return Finding("system packages", "mend", f"missing: {text}.", mend)
    return good("system packages", "PortAudio and ALSA's way to the sound server")


def models(settings: Settings, places: Places) -> Iterator[Finding]:
    """Check that each model in use is on this machine and is the catalogue's."""
    names = {"stt": settings.stt.model, "tts": settings.tts.voice}
    if settings.llm.provider == "local":
        names["llm"] = settings.llm.model
    for role, name in names.items():
        check = f"model for {role}"
        try:
            folder = locate(Catalogue.load().model(name), places.models)
            yield good(check, f"{name} in {folder}, its hash is right")
        except VoiceAgentError as error:
            yield fault(check, error)


def build(settings: Settings, places: Places) -> Finding:
    """Let a child process read a long prompt: a build that cannot run here dies by a signal."""
    check = "llama.cpp"
    try:
        model = Catalogue.load().model(settings.llm.model)
        locate(model, places.models)
    except VoiceAgentError:
        return Finding(check, "note", "not tried: there is no model.", "See the model for llm.")
    weights = str(model.weights(places.models))
    command = [sys.executable, "-m", "voice_agent.doctor.proof", weights]
    try:
        child = subprocess.run(
            command, capture_output=True, text=True, timeout=PROOF_S, check=False
        )
    except subprocess.TimeoutExpired:
        return Finding(check, "mend", f"It did not end in {PROOF_S} s.", "Try a smaller model.")
    if child.returncode < 0:
        return Finding(
            check,
            "mend",
            f"It died by signal {-child.returncode} while it read a long prompt.",
            "CMAKE_ARGS=-DGGML_NATIVE=OFF make setup",
        )
    if child.returncode:
        reason = (child.stderr.splitlines() or ["It failed."])[-1]
        return Finding(check, "mend", reason, "make setup")
    return good(check, child.stdout.strip())


def disk(places: Places) -> Finding:
    """Check that there is room for the record of turns, the index and models, and the right."""
    existing = next(p for p in (places.data, *places.data.parents) if os.path.lexists(p))
    if not (existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)):
        mend = how_to_write(places.ledger, DATA_VARIABLE)
        return Finding("disk space", "mend", f"{places.data} cannot be written.", mend)
    free = shutil.disk_usage(existing).free
    text = f"{free / 1e9:.1f} GB are free in {existing}"
    if free < LEAST_FREE_BYTES:
        return Finding("disk space", "mend", f"Only {text}.", "Free a gigabyte or more.")
    return good("disk space", text)


def provider(settings: Settings) -> Finding:
    """Check where the language model runs; a server must be reachable and take the key."""
    llm, check = settings.llm, "provider"
    if llm.provider == "local":
        return good(check, "local: nothing leaves this machine")
    try:
        access = server_access(llm.base_url, llm.remote_model, llm.api_key_file, env=os.environ)
        status = _status_of(access)
    except VoiceAgentError as error:
        return fault(check, error)
    except (OSError, http.client.HTTPException) as error:
        mend = "Start it, or correct llm.base_url."
        return Finding(check, "mend", f"{llm.base_url} does not answer: {error}.", mend)
    if status in (401, 403):
        mend = "Correct the key in the file of llm.api_key_file."
        return Finding(check, "mend", f"{llm.base_url} refuses the key ({status}).", mend)
    return good(check, f"{llm.base_url} answers; questions and evidence go there")


def _status_of(access: Access) -> int:
    """Return the HTTP status of the server's list of models."""
    address = urlsplit(access.base_url)
    host = address.hostname or ""
    connection = (
        http.client.HTTPSConnection(
            host, address.port, timeout=_ANSWER_S, context=ssl.create_default_context()
        )
        if address.scheme == "https"
        else http.client.HTTPConnection(host, address.port, timeout=_ANSWER_S)
    )
    headers = {"Authorization": f"Bearer {access.key}"} if access.key else {}
    try:
        connection.request("GET", f"{address.path}/models", headers=headers)
        return connection.getresponse().status
    finally:
        connection.close()


def _required() -> list[str]:
    wanted = metadata.requires(NAME) or []
    return [re.split(r"[^\w.-]", line)[0] for line in wanted if "extra ==" not in line]


def _is_installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True
