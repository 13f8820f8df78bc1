"""All settings as one typed model, and the keys that have been retired."""

from typing import Literal

from pydantic import ConfigDict

from voice_agent.settings.answering import (
    Answer,
    History,
    Library,
    Llm,
    Recordings,
    Research,
    Tools,
)
from voice_agent.settings.fields import Description, Section, describe
from voice_agent.settings.service import Notify, Service
from voice_agent.settings.voice import Audio, BargeIn, Cues, Listen, Stt, Tts, Wake

Compose = Literal["evidence", "transcript"]

RETIRED = {
    "research.max_tool_rounds": "Research ends by research.timeout_s, research.token_budget "
    "and research.no_progress_rounds; research.max_steps is an optional cap.",
    "chat.max_tool_iters": "Research ends by research.timeout_s, research.token_budget "
    "and research.no_progress_rounds; research.max_steps is an optional cap.",
}
"""Keys of earlier times, with what took their place: ignored with a notice wherever they stand."""


class Settings(Section):
    """All settings, typed and checked."""

    model_config = ConfigDict(validate_default=False)

    wake: Wake = Wake()
    stt: Stt = Stt()
    llm: Llm = Llm()
    tts: Tts = Tts()
    audio: Audio = Audio()
    listen: Listen = Listen()
    cues: Cues = Cues()
    barge_in: BargeIn = BargeIn()
    library: Library = Library()
    tools: Tools = Tools()
    research: Research = Research()
    answer: Answer = Answer()
    history: History = History()
    recordings: Recordings = Recordings()
    notify: Notify = Notify()
    service: Service = Service()

    @property
    def compose(self) -> Compose:
        """What the final request holds, with ``auto`` resolved by the provider."""
        if self.answer.compose != "auto":
            return self.answer.compose
        return "evidence" if self.llm.provider == "local" else "transcript"


def descriptions() -> dict[str, Description]:
    """Return every setting's description by its key ``section.name``, in the model's order."""
    return {
        f"{section}.{name}": describe(f"{section}.{name}", field)
        for section, part in Settings.model_fields.items()
        if isinstance(part.annotation, type) and issubclass(part.annotation, Section)
        for name, field in part.annotation.model_fields.items()
    }
