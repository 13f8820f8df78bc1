import numpy as np

from voice_agent.audio.format import Sound
from voice_agent.tts import Speech, SpokenWord, heard

SPEECH = Speech(
    Sound(np.zeros(100, np.float32), 22_050),
    (SpokenWord("It", 5, 20), SpokenWord("is", 30, 50), SpokenWord("open.", 60, 95)),
)


def test_a_word_counts_as_heard_when_it_has_ended() -> None:
    assert [heard(SPEECH, n) for n in (0, 20, 49, 50, 94, 100)] == [
        "",
        "It",
        "It",
        "It is",
        "It is",
        "It is open.",
    ]
