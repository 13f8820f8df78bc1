"""No settings file, however damaged, gives anything but settings or a clear error."""

from pathlib import Path

from fuzzing import PIECES, damaged_inputs

from voice_agent.errors import SettingsError
from voice_agent.settings import load_settings
from voice_agent.settings.commented import write_commented

PLAIN = b"""\
[wake]
words = ["hey_jarvis", "alexa"]
threshold = 0.5
[llm]
provider = "openai"
base_url = "http://localhost:8080/v1"
context_tokens = 8192
[tools]
enabled = ["date_time", "calculator"]
[answer]
compose = "auto"
"""
TOML = (
    b"[[",
    b"[",
    b"]\n",
    b"nan",
    b"inf",
    b"1e999",
    b"true",
    b"1979-05-27",
    b'"""',
    b"{a=1}",
    b".",
)


def test_no_settings_file_does_harm(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    write_commented(file)
    whole = file.read_bytes().replace(b"\n# ", b"\n")
    refused = 0
    for content in damaged_inputs([PLAIN, PLAIN, PLAIN, whole], usual=300, pieces=PIECES + TOML):
        file.write_bytes(content)
        try:
            load_settings({}, file)
        except SettingsError as error:
            assert error.message
            assert error.mend
            refused += 1
    assert refused
