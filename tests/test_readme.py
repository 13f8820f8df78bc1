"""What the README says of commands, settings, exit codes and models is what the program has."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from voice_agent import errors
from voice_agent.catalogue import Catalogue
from voice_agent.cli.parser import CANCELLED, build_parser
from voice_agent.control.protocol import OPERATIONS
from voice_agent.errors import VoiceAgentError
from voice_agent.settings.loading import check
from voice_agent.settings.model import Settings, descriptions
from voice_agent.settings.sources import variable

README = (Path(__file__).parent.parent / "README.md").read_text()
UNFINISHED = (["history", "delete"], ["settings", "set"])
"""Commands that are spoken of without what they act on."""

STAND_INS = {"ID": "1", "F": "f.wav", "VERB": "run", "FOLDER": ".", "KEY": "tts.rate"}


def spans() -> Iterator[str]:
    """What stands between backticks, of lines that may go on in the next one."""
    prose = re.sub(r"```.*?```", "", README, flags=re.S)
    yield from (" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose))


def verbs() -> set[str]:
    groups = build_parser()._subparsers
    assert groups is not None
    choices = groups._group_actions[0].choices
    assert choices is not None
    return set(choices)


def commands() -> list[str]:
    """Every command of the program that is named, without the program's name."""
    blocks = "\n".join(re.findall(r"```(?:sh)?\n(.*?)```", README, flags=re.S))
    lines = re.findall(r"^voice-agent (.*?)(?:\s{2,}#.*|\s+[<>].*)?$", blocks, re.M)
    inline = [span.removeprefix("voice-agent ") for span in spans()]
    return lines + [span for span in inline if span.split()[0] in verbs() and "{" not in span]


@pytest.mark.parametrize("command", sorted(set(commands())))
def test_every_command_is_understood(command: str) -> None:
    words = [STAND_INS.get(word, word) for word in shlex.split(command)]
    if words[-1] == "--help":
        words.pop()
    if words in UNFINISHED:
        words = ["doctor"]
    arguments = build_parser().parse_args(words)
    if getattr(arguments, "action", None) == "set" and arguments.key != "tts.rate":
        check(arguments.key, arguments.value)


def test_there_are_commands_to_look_at() -> None:
    assert len(set(commands())) > 40


def test_every_verb_is_told() -> None:
    assert verbs() <= {command.split()[0] for command in commands()}


def test_every_setting_that_is_named_exists() -> None:
    sections = "|".join(Settings.model_fields)
    words = [word for span in spans() for word in span.split()]
    named = {word for word in words if re.fullmatch(rf"(?:{sections})\.[a-z_]+", word)}
    assert len(named) > 8 and named <= set(descriptions())
    assert variable("llm.model") in words


def test_the_exit_codes_are_those_of_the_errors() -> None:
    told = {int(code) for code in re.findall(r"^\| (\d+) \|", README, re.M)}
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    codes = {kind.exit_code for kind in kinds if issubclass(kind, VoiceAgentError)}
    assert told == codes | {0, CANCELLED}


def test_the_operations_of_the_control_socket_are_told() -> None:
    (told,) = re.findall(r"The operations are (.*?);", README, re.S)
    assert set(re.findall(r"`(\w+)`", told)) - {"text"} == set(OPERATIONS)


def test_every_model_is_told_with_its_licence() -> None:
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \| ([A-Z]+[\w.-]*) \|$", README, re.M)
    told = Counter(licence for names, licence in rows for _ in re.split(", | and ", names))
    models = Catalogue.load().models
    assert told == Counter(model.licence for model in models)
