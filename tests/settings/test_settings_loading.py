from pathlib import Path

import pytest

from voice_agent.catalogue import Catalogue
from voice_agent.errors import SettingsError
from voice_agent.settings import Loaded, Settings, load_settings, rows
from voice_agent.settings.model import descriptions


def load(tmp_path: Path, text: str = "", **env: str) -> Loaded:
    file = tmp_path / "config.toml"
    file.write_text(text)
    return load_settings({f"VOICE_AGENT_{name}": value for name, value in env.items()}, file)


def refusal(tmp_path: Path, text: str = "", **env: str) -> str:
    with pytest.raises(SettingsError) as refused:
        load(tmp_path, text, **env)
    return refused.value.message


def test_defaults_without_a_file(tmp_path: Path) -> None:
    loaded = load_settings({}, tmp_path / "none.toml")
    assert loaded.settings == Settings()
    assert {row.origin for row in rows(loaded)} == {"default"}


def test_the_defaults_that_are_promised() -> None:
    s = Settings()
    assert (s.wake.words, s.stt.model, s.stt.language) == (["hey_jarvis"], "whisper-base", "en")
    assert (s.llm.context_tokens, s.audio.output_latency_ms, s.listen.follow_up_s) == (8192, 80, 6)
    r, a = s.research, s.answer
    assert (r.timeout_s, r.token_budget, r.no_progress_rounds, r.max_steps) == (300, 65_536, 4, 0)
    assert (a.max_tokens, a.timeout_s, a.first_word_s, a.excerpt_chars) == (512, 120, 6, 1200)
    assert r.prefetch and s.tools.confirm_writes


def test_environment_over_file_over_default(tmp_path: Path) -> None:
    text = "[research]\ntimeout_s = 60\ntoken_budget = 2000\n"
    loaded = load(tmp_path, text, RESEARCH__TIMEOUT_S="90")
    by_key = {row.key: (row.value, row.origin) for row in rows(loaded)}
    assert by_key["research.timeout_s"] == (90, "environment")
    assert by_key["research.token_budget"] == (2000, "file")
    assert by_key["research.max_steps"] == (0, "default")


def test_a_section_with_an_underscore_has_its_variable(tmp_path: Path) -> None:
    assert load(tmp_path, BARGE_IN__MODE="wake_word").settings.barge_in.mode == "wake_word"


def test_what_is_not_available_yet_is_refused_and_said(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="any speech is not available yet"):
        load(tmp_path, BARGE_IN__MODE="speech")


def test_lists_come_as_toml_or_as_text(tmp_path: Path) -> None:
    in_file = load(tmp_path, 'wake.words = ["alexa", "okay_nabu"]').settings.wake.words
    in_env = load(tmp_path, WAKE__WORDS="alexa,okay_nabu").settings.wake.words
    assert in_file == in_env == ["alexa", "okay_nabu"]


def test_all_faults_are_reported_together_with_their_places(tmp_path: Path) -> None:
    text = "[research]\ntimeout_s = 5\n\n[tts]\nrat = 1.0\n"
    message = refusal(tmp_path, text, LLM__THREADS="many", WAKE__WORD="alexa")
    file = tmp_path / "config.toml"
    assert f"research.timeout_s: 5 is not a number from 10 to 3600 s ({file} line 2)" in message
    assert f"tts.rat: unknown setting; did you mean tts.rate? ({file} line 5)" in message
    assert "llm.threads: 'many' is not a whole number" in message and "LLM__THREADS" in message
    assert "did you mean VOICE_AGENT_WAKE__WORDS? (VOICE_AGENT_WAKE__WORD)" in message


def test_models_that_the_catalogue_has_not_are_reported_with_all_other_faults(
    tmp_path: Path,
) -> None:
    text = "[tts]\nvoice = 'nobody'\nrate = 9\n"
    message = refusal(tmp_path, text, STT__MODEL="en_US-joe-medium", LLM__MODEL="")
    file = tmp_path / "config.toml"
    assert f"tts.voice: 'nobody' is not one of en_US-joe-medium ({file} line 2)" in message
    assert "tts.rate: 9 is not a number from 0.5 to 2" in message
    assert "stt.model: 'en_US-joe-medium' is not one of whisper-base, whisper-tiny.en (" in message
    assert "llm.model: '' is not one of qwen2.5-coder-1.5b" in message
    assert "4 settings cannot be used" in message and "(VOICE_AGENT_LLM__MODEL)" in message


def test_models_of_the_catalogue_are_taken_and_stand_in_the_rows(tmp_path: Path) -> None:
    loaded = load(tmp_path, "[stt]\nmodel = ' whisper-tiny.en '\n")
    assert loaded.settings.stt.model == "whisper-tiny.en"
    row = next(row for row in rows(loaded) if row.key == "stt.model")
    assert row.choices == ("whisper-base", "whisper-tiny.en")


def test_a_wake_word_of_ones_own_is_a_file_and_not_in_the_catalogue(tmp_path: Path) -> None:
    assert load(tmp_path, WAKE__WORDS="~/hey_you.json").settings.wake.words == ["~/hey_you.json"]


def test_the_default_models_are_the_catalogues() -> None:
    named = {key: d for key, d in descriptions().items() if d.role}
    assert set(named) == {"llm.model", "stt.model", "tts.voice"}
    assert all(d.default == Catalogue.load().default(d.role).name for d in named.values())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("timeout_s = 5", "timeout_s: unknown setting; did you mean research.timeout_s?"),
        ("research = 5", "research: a section"),
        ("[wakeword]\n", "wakeword: unknown setting"),
        ("[llm.threads]\nn = 1", "llm.threads: {'n': 1} is not a whole number"),
        ("[tts]\nrate = true", "tts.rate: True is not a number"),
        ("[tts]\nrate = 1979-05-27", "tts.rate: "),
        ("[llm]\nremote_model = 5", "llm.remote_model: 5 is not text"),
        ("[tts]\nvoice = 5", "tts.voice: 5 is not one of en_US-joe-medium ("),
        ("[stt]\nmodel = ['whisper-base']", "stt.model: ['whisper-base'] is not one of whisper-b"),
    ],
)
def test_faults_of_the_file_are_named(tmp_path: Path, text: str, reason: str) -> None:
    assert reason in refusal(tmp_path, text)


def test_a_variable_without_its_double_underscore_is_a_fault(tmp_path: Path) -> None:
    assert "VOICE_AGENT_TTS__RATE?" in refusal(tmp_path, TTS_RATE="1")


@pytest.mark.parametrize("key", ["research.max_tool_rounds", "chat.max_tool_iters"])
def test_retired_keys_are_ignored_with_a_notice(tmp_path: Path, key: str) -> None:
    section, _, name = key.partition(".")
    loaded = load(tmp_path, f"[{section}]\n{name} = 8\n")
    assert loaded.settings == Settings()
    assert key in loaded.notices[0] and "line 2" in loaded.notices[0]


@pytest.mark.parametrize("name", ["RESEARCH__MAX_TOOL_ROUNDS", "CHAT__MAX_TOOL_ITERS"])
def test_retired_variables_are_ignored_with_a_notice(tmp_path: Path, name: str) -> None:
    assert f"VOICE_AGENT_{name}" in load(tmp_path, **{name: "8"}).notices[0]


def test_broken_toml_names_file_and_line(tmp_path: Path) -> None:
    message = refusal(tmp_path, "[stt]\nmodel = whisper-base\n")
    assert str(tmp_path / "config.toml") in message and "line 2" in message


@pytest.mark.parametrize("text", ["[stt", "[stt]\nmodel =", "[a]\n[a]\n", "x = 1\nx = 2\n"])
def test_no_kind_of_broken_toml_gets_through(tmp_path: Path, text: str) -> None:
    assert "not valid TOML" in refusal(tmp_path, text)


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match=r"config.toml is not text in UTF-8"):
        load_settings({}, tmp_path / "config.toml")


def test_a_folder_in_its_place_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"is a folder, not a file\. Move it aside"):
        load_settings({}, tmp_path)


def test_a_place_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings({}, tmp_path / "plain" / "config.toml")


@pytest.mark.parametrize(
    ("provider", "asked", "got"),
    [
        ("local", "auto", "evidence"),
        ("openai", "auto", "transcript"),
        ("local", "transcript", "transcript"),
        ("openai", "evidence", "evidence"),
    ],
)
def test_the_final_request_follows_the_provider_unless_told(
    tmp_path: Path, provider: str, asked: str, got: str
) -> None:
    loaded = load(tmp_path, LLM__PROVIDER=provider, ANSWER__COMPOSE=asked)
    assert loaded.settings.compose == got


def test_threads_follow_the_machine_within_bounds() -> None:
    s = Settings()
    assert [s.llm.thread_count(n) for n in (1, 2, 8, 64)] == [1, 2, 8, 8]
    assert [s.stt.thread_count(n) for n in (1, 2, 8, 64)] == [1, 2, 4, 4]


def test_rows_have_the_promised_fields(tmp_path: Path) -> None:
    row = rows(load(tmp_path))[0].to_json()
    assert list(row) == ("key label description unit min max choices default value origin".split())
