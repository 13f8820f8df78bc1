"""Changes to the settings file: one key at a time, comments and order kept, whole or not at all."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from voice_agent.errors import SettingsError, SettingsFileError
from voice_agent.places import CONFIG_VARIABLE, FILE_MODE, how_to_write, private_folder
from voice_agent.settings.fields import Value
from voice_agent.settings.sources import parse, read_text

HEADER = "Settings of voice-agent; 'voice-agent settings list' shows all of them."


def write_value(file: Path, key: str, value: Value) -> None:
    """Put ``key = value`` into the settings file, which is created if it is missing.

    The value must have been checked. Raises SettingsError, and then nothing was changed.
    """
    section, _, name = key.partition(".")
    with _edited(file) as document:
        if section not in document:
            document[section] = tomlkit.table()
        table = document[section]
        if not isinstance(table, dict):
            message = f"{file}: {section} is a value there, but must be a section: [{section}]."
            raise SettingsError(message, mend="Mend it in the file.", file=file)
        table[name] = value


def remove_values(file: Path, keys: list[str]) -> list[str]:
    """Take ``keys`` out of the settings file and return those that stood in it.

    Raises SettingsError, and then nothing was changed.
    """
    removed = []
    with _edited(file) as document:
        for key in keys:
            section, _, name = key.partition(".")
            table = document.get(section)
            if isinstance(table, dict) and name in table:
                del table[name]
                removed.append(key)
    return removed


@contextmanager
def _edited(file: Path) -> Iterator[Any]:
    """Yield the file's document and write it back if the block succeeds and changed it."""
    try:
        target = file.resolve()  # a link into someone's dotfiles stays a link
        private_folder(file.parent)
        with _locked(file.parent):
            document = _document(read_text(file), file)
            before = tomlkit.dumps(document)
            yield document
            after = tomlkit.dumps(document)
            if parse(after, file) != document.unwrap():
                raise TOMLKitError("the changed file would not read back the same")
            if after != before:
                _replace(target, after)
    except OSError as error:
        message = f"{file} cannot be written: {error.strerror}."
        mend = f"Nothing was changed. {how_to_write(file, CONFIG_VARIABLE, error)}"
        raise SettingsFileError(message, mend=mend, file=file) from error
    except TOMLKitError as error:
        message = f"{file} cannot be changed: {error}."
        mend = "Edit it by hand; nothing was changed."
        raise SettingsError(message, mend=mend, file=file) from error


def _document(text: str, file: Path) -> tomlkit.TOMLDocument:
    parse(text, file)  # names the line of a fault better than tomlkit does
    if text:
        return tomlkit.parse(text)
    document = tomlkit.document()
    document.add(tomlkit.comment(HEADER))
    document.add(tomlkit.nl())
    return document


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep two commands from editing at once; the lock goes with the process."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _replace(target: Path, text: str) -> None:
    """Write ``text`` beside ``target`` (0600) and move it into place."""
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(descriptor)
        temporary.chmod(FILE_MODE)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
