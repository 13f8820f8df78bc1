"""``doctor``: whether everything is there, and what mends what is not."""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from voice_agent.cli.output import say, say_row

if TYPE_CHECKING:
    from voice_agent.cli.verbs import Verbs
    from voice_agent.doctor import Finding

_MARKS = {"good": "good", "note": "note", "mend": "MEND"}


def add(verbs: "Verbs") -> None:
    """Add the verb ``doctor``."""
    doctor = verbs.add_parser("doctor", help="check everything, and say what mends what is wrong")
    doctor.add_argument("--quick", action="store_true", help="without the language model's proof")
    doctor.add_argument(
        "--echo", action="store_true", help="measure the echo path, too: plays a second of noise"
    )
    doctor.add_argument("--json", action="store_true", help="one JSON object a line")
    doctor.set_defaults(run=_doctor)


def _doctor(args: argparse.Namespace) -> int:
    from voice_agent.doctor import worst

    findings = []
    for finding in _findings(quick=args.quick, echo=args.echo):
        findings.append(finding)
        say_row(finding.to_json()) if args.json else say(_line(finding))
    return 1 if worst(findings) == "mend" else 0


def _findings(*, quick: bool, echo: bool) -> "Iterator[Finding]":
    from voice_agent.audio.probe import probe
    from voice_agent.doctor import echo_path, program, service, sound
    from voice_agent.doctor.findings import fault, good
    from voice_agent.errors import CatalogueError, SettingsError
    from voice_agent.places import places
    from voice_agent.settings import Settings, load_settings

    here = places()
    yield program.python()
    yield program.system_packages()
    try:
        settings = load_settings().settings
        yield good("settings", str(here.config_file))
    except (SettingsError, CatalogueError) as error:
        yield fault("settings", error)
        settings = Settings()
    yield from program.models(settings, here)
    if not quick and settings.llm.provider == "local":
        yield program.build(settings, here)
    yield program.provider(settings)
    yield program.disk(here)
    yield sound.server()
    found = probe(settings.audio.input_device, measure_s=sound.MEASURE_S)
    yield from sound.devices(found, settings.audio.input_device, settings.audio.output_device)
    yield sound.level(found)
    if echo:
        audio = settings.audio
        yield sound.echo(echo_path.measure(audio.input_device, audio.output_device))
    yield service.control(here)
    yield service.unit(settings)


def _line(finding: "Finding") -> str:
    mend = f"\n      {finding.mend}" if finding.mend else ""
    return f"{_MARKS[finding.level]}  {finding.check}: {finding.text}{mend}"
