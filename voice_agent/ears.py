"""The listening front end that the settings describe."""

from voice_agent.settings import Settings
from voice_agent.turns.endpointing import EndpointRules
from voice_agent.turns.front_end import FrontEnd


def load_ears(settings: Settings, *, no_wake: bool = False) -> FrontEnd:
    """Load it; with ``no_wake`` it knows no wake word. Raises ModelMissing and ModelMismatch."""
    wake, listen = settings.wake, settings.listen
    return FrontEnd.load(
        [] if no_wake else wake.words,
        EndpointRules(
            silence_s=listen.end_silence_s,
            complete_silence_s=listen.complete_silence_s,
            incomplete_silence_s=listen.incomplete_silence_s,
            hint_wait_s=listen.text_wait_s,
            wait_s=listen.wait_s,
            max_question_s=listen.max_question_s,
        ),
        threshold=wake.threshold,
        own_voice_threshold=wake.own_voice_threshold,
        refractory_s=wake.refractory_s,
    )
