"""Every setting's limits, taken from the model itself."""

import pytest

from voice_agent.errors import SettingsError
from voice_agent.settings import load_settings
from voice_agent.settings.fields import Description
from voice_agent.settings.loading import check
from voice_agent.settings.model import descriptions
from voice_agent.settings.sources import variable

BOUNDED = [d for d in descriptions().values() if d.max is not None]
CHOSEN = [d for d in descriptions().values() if d.choices]


def keys(setting: Description) -> str:
    return setting.key


@pytest.mark.parametrize("setting", descriptions().values(), ids=keys)
def test_every_setting_explains_itself(setting: Description) -> None:
    assert setting.label and setting.text and setting.expects
    assert (setting.min is None) == (setting.max is None)


@pytest.mark.parametrize("setting", BOUNDED, ids=keys)
@pytest.mark.parametrize("side", ["below", "above"])
def test_a_value_out_of_bounds_is_refused_with_the_bounds(setting: Description, side: str) -> None:
    assert setting.min is not None and setting.max is not None
    value = setting.min - 1 if side == "below" else setting.max + 1
    env = {variable(setting.key): str(value), "HOME": "/nowhere"}
    with pytest.raises(SettingsError) as refused:
        load_settings(env)
    assert f"{setting.key}: " in refused.value.message
    assert f"{setting.max}" in refused.value.message
    assert f" {setting.min} " in refused.value.message
    assert variable(setting.key) in refused.value.message


@pytest.mark.parametrize(
    ("key", "least", "most"),
    [
        ("research.timeout_s", 10, 3600),
        ("research.token_budget", 1024, 2_000_000),
        ("research.no_progress_rounds", 2, 20),
        ("research.max_steps", 0, 64),
        ("answer.max_tokens", 64, 8192),
        ("answer.timeout_s", 10, 600),
        ("answer.first_word_s", 1, 60),
        ("answer.excerpt_chars", 200, 10_000),
    ],
)
def test_the_bounds_of_research_and_answer_that_are_promised(
    key: str, least: int, most: int
) -> None:
    assert (descriptions()[key].min, descriptions()[key].max) == (least, most)


@pytest.mark.parametrize("setting", BOUNDED, ids=keys)
def test_the_bounds_themselves_are_allowed(setting: Description) -> None:
    assert check(setting.key, str(setting.min)) == setting.min
    assert check(setting.key, str(setting.max)) == setting.max


@pytest.mark.parametrize("setting", BOUNDED, ids=keys)
@pytest.mark.parametrize("text", ["soon", "", "nan", "inf", "true", "1e999"])
def test_what_is_not_a_number_is_refused(setting: Description, text: str) -> None:
    with pytest.raises(SettingsError, match=r"is not .*number"):
        check(setting.key, text)


@pytest.mark.parametrize("setting", CHOSEN, ids=keys)
def test_a_choice_that_is_none_is_refused_with_the_choices(setting: Description) -> None:
    with pytest.raises(SettingsError) as refused:
        check(setting.key, "sideways")
    assert all(choice in refused.value.message for choice in setting.choices)


@pytest.mark.parametrize("setting", CHOSEN, ids=keys)
def test_every_choice_is_allowed(setting: Description) -> None:
    assert all(check(setting.key, choice) in (choice, [choice]) for choice in setting.choices)


@pytest.mark.parametrize("steps", ["0", "2", "64"])
def test_the_step_limit_is_off_or_leaves_room_for_an_answer(steps: str) -> None:
    assert check("research.max_steps", steps) == int(steps)


def test_one_step_would_leave_nothing_for_research() -> None:
    with pytest.raises(SettingsError, match=r"0 \(no limit\) or a whole number from 2 to 64"):
        check("research.max_steps", "1")


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("stt.language", "english"),
        ("stt.language", "EN"),
        ("llm.base_url", "localhost:8080"),
        ("wake.words", ""),
        ("wake.words", "hey_jarvis,,alexa"),
        ("tools.confirm_writes", "maybe"),
        ("llm.threads", "2.5"),
    ],
)
def test_values_of_the_wrong_form_are_refused(key: str, text: str) -> None:
    with pytest.raises(SettingsError, match=f"^{key}: "):
        check(key, text)


def test_a_key_pasted_for_a_key_file_is_refused_and_not_repeated() -> None:
    with pytest.raises(SettingsError) as refused:
        check("llm.api_key_file", "sk-verysecret")
    assert "verysecret" not in str(refused.value)


@pytest.mark.parametrize("text", ["off", "no", "false", "0"])
def test_a_switch_understands_the_usual_words(text: str) -> None:
    assert check("research.prefetch", text) is False


def test_wake_words_are_separated_by_commas_and_counted_once() -> None:
    assert check("wake.words", " alexa, hey_jarvis,alexa ") == ["alexa", "hey_jarvis"]


def test_a_wake_word_may_be_a_model_of_ones_own() -> None:
    assert check("wake.words", "alexa,~/computer.json") == ["alexa", "~/computer.json"]
