from voice_agent.tts.alignment import Phoneme, word_spans


def phonemes(text: str, samples: int = 10) -> list[Phoneme]:
    return [Phoneme(symbol, samples) for symbol in text]


def test_each_group_is_its_word() -> None:
    assert word_spans(["ab", "cd"], phonemes("^ab cd.$")) == [(10, 30), (40, 60)]


def test_words_that_the_phonemizer_joined_are_divided_by_their_letters() -> None:
    assert word_spans(["ʌv", "ðə"], phonemes("ʌvðə")) == [(0, 20), (20, 40)]


def test_a_word_of_several_groups_keeps_them_all() -> None:
    assert word_spans(["tuː twɛlv", "x"], phonemes("tuː twɛlv x")) == [(0, 90), (100, 110)]


def test_a_changed_sound_still_finds_its_word() -> None:
    assert word_spans(["ɪt", "ɪz"], phonemes("ɪɾ ɪz")) == [(0, 20), (30, 50)]


def test_a_word_without_sound_is_empty_where_it_stands() -> None:
    assert word_spans(["ab", "", "cd"], phonemes("ab cd")) == [(0, 20), (20, 20), (30, 50)]


def test_no_sound_at_all() -> None:
    assert word_spans(["ab"], phonemes("^$")) == [(0, 0)]
