"""Break every rule of the research loop once, and see the test that names it fail.

    python benchmarks/rules.py [--only 3,17-20] [--check]

`rules.toml` beside it has, for each rule, its test and one small change of the source that breaks
it. Each change is made in a temporary copy of the tree and the test is run there; the copy without
any change must pass all of them. Printed is a table: rule, test, result when the rule is broken.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = Path(__file__).with_name("rules.toml")

FAILED = 1  # pytest's exit code when tests ran and failed; a broken import or no test is another
WRONG_TABLE = 2
CANCELLED = 130
_SHOWN_CHARS = 90

TEST_TIMEOUT_S = 60
"""A loop whose bound was taken away may go on for ever: that counts as a failed test."""


@dataclass(frozen=True)
class Rule:
    """A rule, the test that names it, and the change of ``file`` that breaks it."""

    n: int
    section: str
    rule: str
    test: str
    file: str
    old: str
    new: str

    def fault(self, root: Path) -> str:
        """What is wrong with this row of the table, empty if nothing is."""
        found = (root / self.file).read_text().count(self.old)
        if found != 1:
            return f"rule {self.n}: the text to change stands {found} times in {self.file}"
        if self.old == self.new:
            return f"rule {self.n}: it changes nothing"
        file, _, name = self.test.partition("::")
        if f"def {name.partition('[')[0]}(" not in (root / file).read_text():
            return f"rule {self.n}: there is no test {self.test}"
        return ""


def read_rules(table: Path = TABLE) -> list[Rule]:
    """Return the rows of the table, numbered from 1."""
    rows = tomllib.loads(table.read_text())["rule"]
    return [Rule(n, **row) for n, row in enumerate(rows, 1)]


def faults(rules: Sequence[Rule], root: Path = ROOT) -> list[str]:
    """Return what is wrong with the table; the source has moved on where it is not empty."""
    return [fault for rule in rules if (fault := rule.fault(root))]


def main(argv: Sequence[str]) -> int:
    """Run the table; 0 if every rule's test failed when it was broken, 1 if one survived."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", metavar="N,N", help="some of the rules, by number")
    parser.add_argument("--check", action="store_true", help="only see whether the table holds")
    args = parser.parse_args(argv)
    rules = read_rules()
    if wrong := faults(rules):
        sys.stderr.write("\n".join(wrong) + "\n")
        return WRONG_TABLE
    if args.check:
        return 0
    if args.only:
        rules = [rule for rule in rules if _is_wanted(rule.n, args.only)]
    with tempfile.TemporaryDirectory(prefix="voice-agent-rules-") as folder:
        return _run(rules, Path(folder))


def _is_wanted(n: int, only: str) -> bool:
    ranges = (part.partition("-") for part in only.split(","))
    return any(int(first) <= n <= int(last or first) for first, _, last in ranges)


def _run(rules: Sequence[Rule], folder: Path) -> int:
    copy = _copied(folder)
    code, output = _pytest(copy, sorted({rule.test for rule in rules}))
    if code:
        sys.stderr.write(f"{output}\nThe tests fail where no rule is broken.\n")
        return FAILED
    print("| | rule | test | when the rule is broken |\n| --- | --- | --- | --- |")
    survivors = 0
    for rule in rules:
        with _broken(copy, rule):
            code, output = _pytest(copy, [rule.test])
        survivors += code != FAILED
        result = f"fails: {_reason(output)}" if code == FAILED else f"SURVIVES (exit {code})"
        name = rule.test.rpartition("/")[2]
        print(f"| {rule.n} | {rule.section}: {rule.rule} | `{name}` | {result} |", flush=True)
    print(f"\n{len(rules) - survivors} of {len(rules)} rules: the test fails when it is broken.")
    return FAILED if survivors else 0


def _copied(folder: Path) -> Path:
    """Copy what belongs to the tree; the models are linked."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        source, target = ROOT / name, folder / name
        if source.is_file() and not source.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    for model in (ROOT / "models").iterdir():
        if model.is_dir():
            (folder / "models" / model.name).symlink_to(model.resolve())
    return folder


@contextmanager
def _broken(copy: Path, rule: Rule) -> Iterator[None]:
    file = copy / rule.file
    whole = file.read_text()
    file.write_text(whole.replace(rule.old, rule.new))
    try:
        yield
    finally:
        file.write_text(whole)


def _pytest(copy: Path, tests: Sequence[str]) -> tuple[int, str]:
    """Run ``tests`` of the copy; return pytest's exit code and what it printed."""
    command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", "--tb=line"]
    done = subprocess.run(
        [*command, f"--timeout={TEST_TIMEOUT_S}", *tests],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": str(copy), "COLUMNS": "400"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def _reason(output: str) -> str:
    """The line in which pytest says what failed, short enough for a table."""
    said = [line for line in output.splitlines() if line.startswith("FAILED") and " - " in line]
    reason = said[-1].partition(" - ")[2] if said else "it failed"
    return reason[:_SHOWN_CHARS].replace("|", "/").strip()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(CANCELLED))
    try:
        raise SystemExit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        raise SystemExit(CANCELLED) from None
