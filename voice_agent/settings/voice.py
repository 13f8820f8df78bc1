"""Settings of what hears and speaks. Names and defaults: design.md "Settings"."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, StringConstraints, field_validator

from voice_agent.settings.fields import Section, from_commas, setting

WakeWord = Literal["hey_jarvis", "okay_nabu", "alexa", "hey_mycroft"]
WakeModel = Annotated[str, StringConstraints(pattern=r"\.json$")]


class Wake(Section):
    """The wake word."""

    words: Annotated[list[WakeWord | WakeModel], BeforeValidator(from_commas)] = setting(
        ["hey_jarvis"],
        "Wake words",
        "Words that start a question and stop everything, separated by commas; also the path of a "
        "microWakeWord model's .json file, with its .tflite file beside it.",
        expects="one or more of hey_jarvis, okay_nabu, alexa, hey_mycroft or of a model's .json "
        "files, separated by commas",
    )
    threshold: float = setting(
        0.0,
        "Detection threshold",
        "How sure the detector must be; lower hears more and errs more. "
        "0 takes the value that the word's own model was published with.",
        ge=0,
        le=1,
    )
    own_voice_threshold: float = setting(
        0.7,
        "Detection threshold while it speaks",
        "Counts instead while the assistant's own voice is played, where the other one is higher: "
        "what is left of the echo hides the wake word a little. 1 keeps the other one.",
        ge=0.1,
        le=1,
    )
    refractory_s: float = setting(
        1.5,
        "Pause after a detection",
        "How long the same wake word is not detected again; some are heard twice under 1.2 s.",
        unit="s",
        ge=0.1,
        le=10,
    )

    @field_validator("words")
    @classmethod
    def _one_at_least(cls, words: list[str]) -> list[str]:
        if not words:
            raise ValueError("names no word")
        return list(dict.fromkeys(words))


class Stt(Section):
    """Speech to text."""

    model: str = setting(
        "whisper-base",
        "Speech model",
        "What turns speech into text.",
        expects="a model for stt in 'voice-agent models list'",
        role="stt",
    )
    language: str = setting(
        "en",
        "Language",
        "The language that is spoken: a code such as en, de or fr; auto recognises it and answers "
        "in it where a voice of it is installed.",
        expects="auto or a language code of two or three small letters, such as en",
    )
    threads: int = setting(
        0,
        "Threads",
        "Processor threads for speech to text; 0 takes all cores, four at most.",
        ge=0,
        le=64,
    )

    @field_validator("language")
    @classmethod
    def _code(cls, language: str) -> str:
        code = len(language) in (2, 3) and language.isascii() and language.islower()
        if language != "auto" and not code:
            raise ValueError("is not a language code")
        return language

    def thread_count(self, cores: int) -> int:
        """Return how many threads to start on a machine with ``cores``."""
        return self.threads or max(1, min(cores, 4))


class Tts(Section):
    """Text to speech."""

    voice: str = setting(
        "en_US-joe-medium",
        "Voice",
        "The voice of answers.",
        expects="a model for tts in 'voice-agent models list'",
        role="tts",
    )
    rate: float = setting(
        1.0, "Speed", "How fast answers are spoken; 1 is the voice's own.", ge=0.5, le=2
    )
    volume: float = setting(
        1.0, "Volume", "How loud answers are; 1 is the voice's own.", ge=0, le=1.5
    )
    first_clause_chars: int = setting(
        25,
        "First clause",
        "An answer's first clause of at least so many characters is spoken while the rest of its "
        "sentence is still being made; 0: whole sentences only.",
        unit="characters",
        ge=0,
        le=200,
    )


class Audio(Section):
    """Microphone and loudspeaker."""

    input_device: str = setting(
        "", "Microphone", "Its name or number in 'voice-agent devices'; empty: the system's."
    )
    output_device: str = setting(
        "", "Loudspeaker", "Its name or number in 'voice-agent devices'; empty: the system's."
    )
    output_latency_ms: int = setting(
        80,
        "Loudspeaker buffer",
        "Sound kept ready for the loudspeaker; under 40 ms the beginning of answers was lost.",
        unit="ms",
        ge=40,
        le=200,
    )


class Listen(Section):
    """Listening to a question."""

    follow_up_s: float = setting(
        6.0,
        "Follow-up time",
        "How long after an answer a question needs no wake word; 0: always needed.",
        unit="s",
        ge=0,
        le=60,
    )
    answer_wait_s: float = setting(
        8.0,
        "Wait for an answer",
        "How long an answer is waited for when the assistant asks you something, such as whether "
        "it may write a note; then it takes it for a no.",
        unit="s",
        ge=1,
        le=60,
    )
    wait_s: float = setting(
        5.0,
        "Wait for a question",
        "How long after the wake word the question may begin.",
        unit="s",
        ge=1,
        le=60,
    )
    max_question_s: float = setting(
        20.0, "Longest question", "A longer question is cut here.", unit="s", ge=3, le=120
    )
    end_silence_s: float = setting(
        0.5,
        "Silence after a question",
        "How long the silence is that ends a question; the voice detector adds 0.1 to 0.2 s.",
        unit="s",
        ge=0.2,
        le=5,
    )
    complete_silence_s: float = setting(
        0.45,
        "Silence after a whole question",
        "The same, where the text so far is a whole question; never longer than the other.",
        unit="s",
        ge=0.2,
        le=5,
    )
    incomplete_silence_s: float = setting(
        1.3,
        "Silence inside a question",
        'The same, after a word or two, after "and" or "of", or while a number is being spelt; '
        "never shorter than the other.",
        unit="s",
        ge=0.2,
        le=10,
    )
    text_wait_s: float = setting(
        0.4,
        "Wait for the text",
        "How much longer the silence after a question may be while its text is still being made: "
        "the text tells whether more will come, and no answer begins without it. 0: not at all.",
        unit="s",
        ge=0,
        le=5,
    )


class Cues(Section):
    """The short sounds that say what the assistant is doing."""

    volume: float = setting(
        0.3, "Volume of cues", "How loud they are; 1 is about as loud as speech.", ge=0, le=1
    )
    wake: bool = setting(
        True, "Wake cue", "It heard its wake word and listens; not where that silences an answer."
    )
    end_of_question: bool = setting(True, "End cue", "The question was heard to its end.")
    thinking: bool = setting(
        True, "Thinking cue", "It thinks for more than two seconds; softly, and again meanwhile."
    )
    cancelled: bool = setting(
        True, "Cancel cue", 'It was told to stop: by "never mind" and the like, or by a command.'
    )
    error: bool = setting(True, "Error cue", "A question could not be answered for a fault.")
    no_speech: bool = setting(
        True, "No-speech cue", "It listened after the wake word, and nobody said anything."
    )

    @property
    def wanted(self) -> tuple[str, ...]:
        """The names of the cues that are switched on."""
        return tuple(name for name, on in self.model_dump().items() if on is True)


class BargeIn(Section):
    """Interrupting the assistant."""

    mode: Literal["wake_word"] = setting(
        "wake_word",
        "What interrupts",
        "wake_word: the wake word alone stops an answer.",
        expects="wake_word; to interrupt by any speech is not available yet",
    )
