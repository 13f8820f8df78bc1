"""Address and key of a server: what is refused, and that the key is never shown."""

import logging
from pathlib import Path

import pytest

from voice_agent.errors import SettingsError
from voice_agent.llm.access import Access, server_access

URL = "http://localhost:8080/v1"
KEY = "sk-secret-0123456789"


def access(url: str = URL, file: Path | str = "", **env: str) -> Access:
    return server_access(url, "tiny", str(file), env=env)


def key_file(folder: Path, content: str = f"{KEY}\n", mode: int = 0o600) -> Path:
    file = folder / "key"
    file.write_text(content)
    file.chmod(mode)
    return file


def test_a_server_may_need_no_key() -> None:
    assert access() == Access(URL, "tiny", "")


def test_the_key_comes_from_the_file_before_the_environment(tmp_path: Path) -> None:
    assert access(OPENAI_API_KEY="other").key == "other"
    assert access(file=key_file(tmp_path), OPENAI_API_KEY="other").key == KEY


def test_a_key_is_not_shown(tmp_path: Path) -> None:
    assert KEY not in repr(access(file=key_file(tmp_path)))


def test_a_key_that_everyone_can_read_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    access(file=key_file(tmp_path))
    assert not caplog.text
    access(file=key_file(tmp_path, mode=0o644))
    assert "chmod 600" in caplog.text and KEY not in caplog.text


def test_a_key_in_the_clear_on_the_way_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    access("https://example.org/v1", OPENAI_API_KEY=KEY)
    access("http://127.0.0.1/v1", OPENAI_API_KEY=KEY)
    assert not caplog.text
    access("http://example.org/v1", OPENAI_API_KEY=KEY)
    assert "unencrypted" in caplog.text and KEY not in caplog.text


@pytest.mark.parametrize("content", ["", " \n", f"{KEY} {KEY}", f"{KEY}\nx", "schlüssel", "k\x00"])
def test_a_file_without_a_key_is_refused_and_not_shown(tmp_path: Path, content: str) -> None:
    with pytest.raises(SettingsError, match=r"llm\.api_key_file") as error:
        access(file=key_file(tmp_path, content))
    assert KEY not in repr(error.value) and error.value.file == str(tmp_path / "key")


@pytest.mark.parametrize("name", ["missing", "."])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        access(file=tmp_path / name)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("", "empty"),
        ("http://", "no address"),
        ("http://local host/v1", "no address"),
        ("http://localhost:port/v1", "no address"),
        ("http://localhost:99999/v1", "no address"),
        (f"http://user:{KEY}@localhost/v1", "password"),
        (f"http://localhost/v1?key={KEY}", "query"),
        ("http://localhost/v1/chat/completions", "added by itself"),
    ],
)
def test_a_wrong_address_is_refused(url: str, why: str) -> None:
    with pytest.raises(SettingsError, match=why) as error:
        access(url)
    assert KEY not in str(error.value) and "llm.base_url" in str(error.value)


def test_the_model_on_the_server_must_be_named() -> None:
    with pytest.raises(SettingsError, match=r"llm\.remote_model"):
        server_access(URL, "", "", env={})


@pytest.mark.parametrize(
    ("url", "here"),
    [("http://127.0.0.1:1/v1", True), ("http://[::1]/v1", True), ("https://example.org", False)],
)
def test_it_is_known_whether_the_server_is_here(url: str, here: bool) -> None:
    assert access(url).on_this_machine is here
