"""The house rules that a program can check: size, borders between modules, no work at import."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "voice_agent"
MODULES = sorted(PACKAGE.rglob("*.py"))
SCRIPTS = sorted((ROOT / "setup").glob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
EVERY_FILE = [*MODULES, *SCRIPTS, *TESTS, *sorted((ROOT / "benchmarks").rglob("*.py"))]

MAX_FILE_LINES = 350
MAX_FUNCTION_LINES = 50
MAX_NESTING = 3
MAX_POSITIONAL = 4
SELF = ("self", "cls")
BEHIND_ONE_FILE = (
    "sounddevice",
    "faster_whisper",
    "jeepney",
    "llama_cpp",
    "openai",
    "piper",
    "pymicro_wakeword",
    "webrtcvad",
)
WRONG_NAMES = re.compile(r"manager|handler|processor|helper|utils?\b|\bcore\b")
MAX_BROAD_EXCEPTS = 2  # the turn supervisor and the tool runner
HEAVY = (*BEHIND_ONE_FILE, "numpy", "onnxruntime", "pydantic")

Function = ast.FunctionDef | ast.AsyncFunctionDef
DEFINITIONS = (
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Assign,
    ast.AnnAssign,
)
BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match)


def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(), str(file))


def functions(file: Path) -> Iterator[Function]:
    for node in ast.walk(tree(file)):
        if isinstance(node, Function):
            yield node


def place(file: Path, node: ast.AST) -> str:
    return f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"


def nesting(node: ast.AST, is_elif: bool = False) -> int:
    """How many blocks stand inside each other; an ``elif`` and a ``case`` are no deeper.

    A function inside a function counts for itself.
    """
    own = int(isinstance(node, BLOCKS) and not is_elif)
    inner = [
        nesting(child, isinstance(child, ast.If) and is_only_else(child, node))
        for child in ast.iter_child_nodes(node)
        if not isinstance(child, Function | ast.Lambda)
    ]
    return own + max(inner, default=0)


def is_only_else(child: ast.If, parent: ast.AST) -> bool:
    return isinstance(parent, ast.If) and parent.orelse == [child]


def imported(file: Path) -> set[str]:
    """The first names of all modules that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module.split(".")[0])
    return found


def test_files_are_short() -> None:
    lengths = {file: len(file.read_text().splitlines()) for file in EVERY_FILE}
    assert not [f"{f}: {n}" for f, n in lengths.items() if n > MAX_FILE_LINES]


def test_functions_are_short() -> None:
    assert not [
        f"{place(file, node)} {node.name}"
        for file in EVERY_FILE
        for node in functions(file)
        if (node.end_lineno or 0) - node.lineno + 1 > MAX_FUNCTION_LINES
    ]


def test_functions_are_flat() -> None:
    assert not [
        f"{place(file, node)} {node.name}"
        for file in EVERY_FILE
        for node in functions(file)
        if nesting(node) > MAX_NESTING
    ]


def positional(node: Function) -> int:
    if node.name.startswith("test_"):
        return 0  # pytest passes fixtures by name
    return len([a for a in (*node.args.posonlyargs, *node.args.args) if a.arg not in SELF])


def test_functions_take_few_positional_parameters() -> None:
    assert not [
        f"{place(file, node)} {node.name}"
        for file in EVERY_FILE
        for node in functions(file)
        if positional(node) > MAX_POSITIONAL
    ]


@pytest.mark.parametrize("dependency", BEHIND_ONE_FILE)
def test_a_dependency_stands_behind_one_file(dependency: str) -> None:
    importers = [str(f.relative_to(ROOT)) for f in MODULES if dependency in imported(f)]
    assert len(importers) <= 1, importers


def works(node: ast.stmt) -> bool:
    """Whether a statement at the top of a module does more than to define something."""
    if isinstance(node, ast.If):  # TYPE_CHECKING, the version of Python, or the main program
        return not re.search(r"TYPE_CHECKING|sys\.\w+|__name__", ast.unparse(node.test))
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant)  # a docstring
    return not isinstance(node, DEFINITIONS)


def test_modules_only_define_at_import() -> None:
    assert not [place(file, node) for file in MODULES for node in tree(file).body if works(node)]


def test_the_command_line_loads_nothing_heavy() -> None:
    code = (
        "import sys, voice_agent.cli; from voice_agent.cli.parser import build_parser; "
        f"build_parser(); print([m for m in {HEAVY} if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def is_broad(node: ast.ExceptHandler) -> bool:
    """Whether it swallows everything; one that ends by raising the same again swallows nothing."""
    last = node.body[-1]
    if isinstance(last, ast.Raise) and last.exc is None:
        return False
    caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    broad = ("Exception", "BaseException")
    return any(one is None or (isinstance(one, ast.Name) and one.id in broad) for one in caught)


def test_everything_is_caught_in_two_places_only() -> None:
    places = [
        place(file, node)
        for file in MODULES
        for node in ast.walk(tree(file))
        if isinstance(node, ast.ExceptHandler) and is_broad(node)
    ]
    assert len(places) <= MAX_BROAD_EXCEPTS, places


def test_modules_have_the_names_of_the_field() -> None:
    names = [str(file.relative_to(ROOT).with_suffix("")).replace("_", " ") for file in MODULES]
    assert not [name for name in names if WRONG_NAMES.search(name)]


def test_addresses_of_hubs_and_indexes_stand_in_the_catalogue_only() -> None:
    hosts = ["pypi" + ".org", "python" + "hosted", "hugging" + "face.co", "index" + "-url="]
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    names = [name for name in listed.stdout.decode().split("\0") if (ROOT / name).is_file()]
    texts = {name: (ROOT / name).read_bytes() for name in names}
    found = [name for name, text in texts.items() if any(host.encode() in text for host in hosts)]
    assert not [name for name in found if not name.startswith("voice_agent/catalogue")]


def test_tests_fake_and_leave_out_nothing() -> None:
    wrong = re.compile(
        r"unittest\.mock|\bmock\b|\bpatch\(|monkeypatch\.(setattr|setitem|delattr|delitem)"
        r"|pytest\.(mark\.)?(skip|skipif|xfail|importorskip)\b|unittest\.skip"
    )
    here = Path(__file__)
    assert not [str(f) for f in TESTS if f != here and wrong.search(f.read_text())]
