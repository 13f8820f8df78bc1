"""Builds the parser from the groups of verbs, and turns every failure into one line and a code."""

import argparse
import os
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import NoReturn

from voice_agent.cli.output import JsonLines, Output, StandardOutput, say
from voice_agent.errors import OutputError, UsageError, VoiceAgentError
from voice_agent.events import Error

CANCELLED = 130


class Parser(argparse.ArgumentParser):
    """A parser that raises `UsageError` instead of leaving the program."""

    def error(self, message: str) -> None:  # type: ignore[override]  # raises, as the base does
        """Raise what is wrong with the command line."""
        raise UsageError(f"{message}.", mend=f"See '{self.prog} --help'.")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """End the program, as the base does, once what it has printed is out."""
        StandardOutput().flush()
        super().exit(status, message)


class _Version(argparse.Action):
    """Prints the version that is installed, and ends the program."""

    def __call__(self, parser: argparse.ArgumentParser, *_arguments: object) -> None:
        from importlib.metadata import version

        say(f"{parser.prog} {version(parser.prog)}")
        parser.exit()


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all verbs."""
    from voice_agent.cli import verbs

    parser = Parser(
        prog="voice-agent",
        description="Answers spoken questions from your own documents, on this machine.",
    )
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version, and end")
    groups = parser.add_subparsers(dest="verb", metavar="VERB", parser_class=Parser, required=True)
    for group in verbs.groups():
        group.add(groups)
    for choice in groups.choices.values():
        choice.add_argument(
            "--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
        )
    return parser


def run(argv: Sequence[str]) -> int:
    """Run the command line ``argv`` (without the program's name) and return its exit code."""
    debug = "--debug" in argv
    if not debug:
        sys.excepthook = _one_line
    try:
        args = build_parser().parse_args(argv)
        code: int = args.run(args)
        StandardOutput().flush()
        return code
    except VoiceAgentError as error:
        if debug:
            raise
        _report(error, json="--json" in argv)
        return error.exit_code
    except KeyboardInterrupt:
        return CANCELLED
    except BrokenPipeError:  # the reader of our output has left; so do we, without a word
        _drop_output()
        return 0


def _report(error: VoiceAgentError, *, json: bool) -> None:
    sys.stderr.write(f"voice-agent: {error}\n")
    if isinstance(error, OutputError):
        _drop_output()
    elif json:
        output = Output(StandardOutput())
        output.lost = _drop_output  # its code and its line are those of the first error
        JsonLines(output)(
            Error(stage=error.stage, message=error.message, mend=error.mend, file=error.file)
        )


def _drop_output() -> None:
    """Let go of what standard output still holds, which would fail again at the very end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _one_line(
    kind: type[BaseException], error: BaseException, _traceback: TracebackType | None
) -> None:
    sys.stderr.write(
        f"voice-agent: unexpected {kind.__name__}: {error}. "
        "Run the same command with --debug to see where, and please report it.\n"
    )
