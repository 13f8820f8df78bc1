from voice_agent.control.unit import unit_file, unit_text
from voice_agent.settings import Settings

SERVER = {"llm": {"provider": "openai", "base_url": "http://house:8080/v1"}}


def lines(settings: Settings, env: dict[str, str] | None = None) -> list[str]:
    return unit_text(settings, env or {}).splitlines()


def test_nothing_of_the_template_is_left_open() -> None:
    assert not [line for line in lines(Settings()) if "{" in line or line.startswith("Environment")]


def test_with_local_parts_alone_the_service_reaches_no_network() -> None:
    assert "RestrictAddressFamilies=AF_UNIX" in lines(Settings())
    assert "IPAddressDeny=any" in lines(Settings())
    server = lines(Settings.model_validate(SERVER))
    assert "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK" in server
    assert "IPAddressDeny=" in server


def test_the_memory_limit_is_the_settings() -> None:
    assert "MemoryMax=6000M" in lines(Settings())
    unlimited = Settings.model_validate({"service": {"memory_max_mb": 0}})
    assert "MemoryMax=infinity" in lines(unlimited)


def test_folders_of_the_users_own_are_passed_on_and_quoted() -> None:
    env = {"XDG_CONFIG_HOME": '/home/a b/100%"'}
    assert 'Environment="XDG_CONFIG_HOME=/home/a b/100%%\\""' in lines(Settings(), env)
    assert str(unit_file({"XDG_CONFIG_HOME": "/x"})) == "/x/systemd/user/voice-agent.service"
