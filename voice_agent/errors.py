"""Every error that the assistant raises on purpose.

::

    VoiceAgentError
    ├── UsageError            wrong command line                        exit 2
    ├── OutputError           standard output cannot be written         exit 1
    ├── SettingsError         unknown key, value out of bounds          exit 2
    │   └── SettingsFileError the file cannot be written                exit 1
    ├── CatalogueError        unknown model, broken catalogue           exit 1
    │   ├── ModelMissing      a model's file is not there               exit 3
    │   ├── ModelMismatch     a model's file is not the catalogue's     exit 3
    │   └── DownloadFailed    no source delivered a file                exit 1
    ├── RecordingError        a sound file cannot be read or written    exit 1
    ├── DeviceError           a microphone or loudspeaker is missing    exit 3
    ├── TranscriptionError    speech to text failed                     exit 1
    ├── SynthesisError        text to speech failed                     exit 1
    ├── ModelError            the language model failed                 exit 1
    │   ├── ContextOverflow   a request does not fit the context
    │   └── ProviderError     the model's server refused, failed or fell silent
    ├── LibraryError          the documents cannot be read or searched  exit 1
    ├── LedgerError           the record of turns cannot be kept        exit 1
    ├── ToolError             a tool failed; the model is told
    ├── ControlError          the running service cannot be reached     exit 1
    └── Cancelled             the user stopped it                       exit 130

``message`` says what was tried and what happened, ``mend`` the exact thing to do about it.
"""

from pathlib import Path
from typing import ClassVar


class VoiceAgentError(Exception):
    """Base of all errors shown to a user as one line, never as a traceback."""

    stage: ClassVar[str] = "voice-agent"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, mend: str = "", file: Path | str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.mend = mend
        self.file = None if file is None else str(file)

    def __str__(self) -> str:
        return f"{self.message} {self.mend}".strip()


class UsageError(VoiceAgentError):
    """The command line cannot be understood."""

    stage = "usage"
    exit_code = 2


class OutputError(VoiceAgentError):
    """Standard output cannot be written. A reader that has left is a BrokenPipeError instead."""

    stage = "output"


class SettingsError(VoiceAgentError):
    """A setting is unknown or its value is not allowed."""

    stage = "settings"
    exit_code = 2


class SettingsFileError(SettingsError):
    """The settings file cannot be written."""

    exit_code = 1


class CatalogueError(VoiceAgentError):
    """The catalogue of models is broken or does not list a model."""

    stage = "models"


class ModelMissing(CatalogueError):
    """A model's file is not on this machine."""

    exit_code = 3


class ModelMismatch(CatalogueError):
    """A model's file does not have the size or hash that the catalogue lists."""

    exit_code = 3


class DownloadFailed(CatalogueError):
    """None of a file's sources delivered it."""


class RecordingError(VoiceAgentError):
    """A recording cannot be read or written."""

    stage = "recording"


class DeviceError(VoiceAgentError):
    """A microphone or loudspeaker is missing or cannot be opened."""

    stage = "audio"
    exit_code = 3


class TranscriptionError(VoiceAgentError):
    """Speech could not be turned into text."""

    stage = "stt"


class SynthesisError(VoiceAgentError):
    """Text could not be turned into speech."""

    stage = "tts"


class ModelError(VoiceAgentError):
    """The language model could not be loaded or failed while it ran."""

    stage = "llm"


class ContextOverflow(ModelError):
    """A request and its output allowance do not fit the model's context."""


class ProviderError(ModelError):
    """A model server could not be reached, refused a request, broke off or fell silent."""


class LibraryError(VoiceAgentError):
    """The user's documents could not be read, indexed or searched."""

    stage = "library"


class LedgerError(VoiceAgentError):
    """The record of turns could not be opened, read or written."""

    stage = "ledger"


class ToolError(VoiceAgentError):
    """A tool could not do what was asked; the message goes to the model."""

    stage = "tool"


class ControlError(VoiceAgentError):
    """The running service could not be reached."""

    stage = "control"


class Cancelled(VoiceAgentError):
    """The user stopped the turn."""

    stage = "turn"
    exit_code = 130
