"""The recorded question, for a machine without a microphone: what the assistant does, shown."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from voice_agent.cli.screen import ADD_FOLDER

if TYPE_CHECKING:
    from voice_agent.events import Listener
    from voice_agent.places import Places
    from voice_agent.session import Session
    from voice_agent.settings import Settings

QUESTION = "question.flac"
DOCUMENTS = "documents"
ANSWER = "answer.wav"


@contextmanager
def asked_library(examples: Path, places: "Places") -> Iterator["Places"]:
    """Yield where the recorded question finds the example documents; say on stderr what is done.

    An empty library gets them. One that holds other things is left as it is, and the question is
    put to a library of the examples alone, with a record of its own, that is thrown away. Raises
    LibraryError.
    """
    from voice_agent.library import Library

    documents = (examples / DOCUMENTS).resolve()
    with Library.open(places.library) as library:
        folders = [folder.path for folder in library.folders()]
        if not folders:
            added = library.add(documents).added
            _say(
                f"the library was empty: {added} example documents were added. {ADD_FOLDER}. "
                f"Forget the examples: voice-agent library remove '{documents}'"
            )
    if not folders or str(documents) in folders:
        yield places
        return
    _say("the recorded question is put to the example documents alone, not to your library.")
    with tempfile.TemporaryDirectory(prefix="voice-agent-example-") as folder:
        own = replace(places, data=Path(folder) / "data")
        with Library.open(own.library) as library:
            library.add(documents)
        yield own


async def answer_recording(
    examples: Path,
    settings: "Settings",
    places: "Places",
    *,
    listener: "Listener",
    answer_file: Path,
    use: "list[Session]",
) -> int:
    """Answer the recorded question aloud and into ``answer_file``; return the exit code.

    The session is put into ``use`` as soon as there is one, so that a signal can cancel its turn.
    Raises what the stages raise.
    """
    from voice_agent.audio.format import read_recording
    from voice_agent.daemon import Wanted, open_stages
    from voice_agent.events import Answer, Error
    from voice_agent.session import Session

    recording = examples / QUESTION
    sound = read_recording(recording)
    wanted = Wanted(stt=True, loudspeaker=True, sound_file=answer_file)
    async with open_stages(settings, places, wanted) as stages:
        session = Session(stages, listener)
        use.append(session)
        ending = await session.hear(sound, source=str(recording))
    if isinstance(ending, Error):
        _say(f"{ending.message} {ending.mend}")
        return 1
    if isinstance(ending, Answer):
        _say(f"the spoken answer is in {answer_file}")
    return 0


def _say(line: str) -> None:
    sys.stderr.write(f"voice-agent: {line}\n")
