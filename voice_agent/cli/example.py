"""The recorded question, for a machine without a microphone: what the assistant does, shown."""

import sys
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


def offer_documents(examples: Path, library_file: Path) -> None:
    """Add the example documents to a library that is empty, and say so on stderr.

    Raises LibraryError.
    """
    from voice_agent.library import Library

    documents = (examples / DOCUMENTS).resolve()
    with Library.open(library_file) as library:
        folders = [folder.path for folder in library.folders()]
        if not folders:
            added = library.add(documents).added
            _say(
                f"the library was empty: {added} example documents were added. {ADD_FOLDER}. "
                f"Forget the examples: voice-agent library remove '{documents}'"
            )
        elif str(documents) not in folders:
            _say(
                "the recorded question is about the example documents, which your library does "
                f"not hold. Add them: voice-agent library add '{documents}'"
            )


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
