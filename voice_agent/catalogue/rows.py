"""The catalogue as it is written: models, their files, and where each file can be had.

``models/README.md`` explains the keys of ``catalogue.toml``, whose rows these classes are.
"""

import tomllib
from collections.abc import Callable, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PositiveInt,
    StringConstraints,
    Tag,
    ValidationError,
    model_validator,
)

from voice_agent.errors import CatalogueError

Role = Literal["stt", "tts", "llm", "turn_end", "wake"]
Choice = Literal["default", "small", "optional"]


def _inside(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts:
        raise ValueError(f"'{path}' is not a path inside the model's folder")
    return path


class Row(BaseModel):
    """A part of the catalogue: frozen, strictly typed, no unknown key."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class HubSource(Row):
    """One file of a repository on the model hub, ``repository@commit:file``."""

    hub: Annotated[str, StringConstraints(pattern=r"^[\w.-]+/[\w.-]+@[\w.-]+:[\w./-]+$")]

    @property
    def address(self) -> str:
        """The file's path below the hub's address."""
        repository, _, rest = self.hub.partition("@")
        commit, _, file = rest.partition(":")
        return f"{repository}/resolve/{commit}/{file}"


class Member(str):
    """A file inside a wheel, ``name==version:path``."""

    @property
    def requirement(self) -> str:
        """The wheel's package as ``name==version``."""
        return self.partition(":")[0]

    @property
    def path(self) -> str:
        """The path inside the wheel."""
        return self.partition(":")[2]


MemberText = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9._-]+==[\w.]+:[\w./-]+$"),
    AfterValidator(Member),
]


class PackageSource(Row):
    """A file, whole or in pieces, inside wheels from the Python package index.

    Every piece has ``piece_bytes`` except the last; without it there is one piece.
    """

    packages: Annotated[list[MemberText], Field(min_length=1)]
    piece_bytes: PositiveInt | None = None

    @model_validator(mode="after")
    def _pieces_have_a_size(self) -> "PackageSource":
        if (self.piece_bytes is None) != (len(self.packages) == 1):
            raise ValueError("several packages, and only they, need 'piece_bytes'")
        return self

    @property
    def members(self) -> tuple[Member, ...]:
        """The pieces, in the order in which they are joined."""
        return tuple(Member(text) for text in self.packages)

    def piece(self, n: int, size_bytes: int) -> range:
        """Return the bytes of a file of ``size_bytes`` that piece ``n`` (from 0) holds."""
        each = self.piece_bytes or size_bytes
        return range(n * each, min((n + 1) * each, size_bytes))


def _kind(source: Any) -> str | None:
    keys = source if isinstance(source, dict) else getattr(source, "model_fields_set", ())
    return next((kind for kind in ("hub", "packages") if kind in keys), None)


Source = Annotated[
    Annotated[HubSource, Tag("hub")] | Annotated[PackageSource, Tag("packages")],
    Discriminator(
        _kind,
        custom_error_type="source",
        custom_error_message="is neither { hub = ... } nor { packages = [...] }",
    ),
]


class ModelFile(Row):
    """One file of a model, its fingerprint, and its sources in the order to try them."""

    path: Annotated[str, AfterValidator(_inside)]
    size_bytes: PositiveInt
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    sources: Annotated[list[Source], Field(min_length=1)]

    @model_validator(mode="after")
    def _pieces_make_the_file(self) -> "ModelFile":
        for source in self.sources:
            if isinstance(source, PackageSource):
                last = source.piece(len(source.packages) - 1, self.size_bytes)
                if not last or last.stop != self.size_bytes:
                    raise ValueError("the pieces of 'packages' do not add up to 'size_bytes'")
        return self


class Model(Row):
    """A model: what it is for, its files, licence and the memory that it takes.

    ``memory_mb`` is an estimate in 10^6 bytes while it runs. The first file is the weights. A
    model that ships inside a library has no files, only ``ships_in``. ``evidence_yes`` is how
    sure a language model must be that what was found states the answer, as measured with it
    (`voice_agent.research.sufficiency`); 0: it cannot tell.
    """

    name: Annotated[str, StringConstraints(pattern=r"^\w[\w.-]*$")]
    title: str
    role: Role
    choice: Choice
    licence: str
    memory_mb: PositiveInt
    ships_in: Annotated[str, StringConstraints(pattern=r"^[\w.-]+:[\w./-]+$")] | None = None
    evidence_yes: Annotated[float, Field(ge=0, lt=1)] = 0.0
    files: Annotated[list[ModelFile], Field(alias="file")] = []

    @model_validator(mode="after")
    def _is_somewhere(self) -> "Model":
        if bool(self.files) == bool(self.ships_in):
            raise ValueError("needs either files or 'ships_in'")
        if len({file.path for file in self.files}) < len(self.files):
            raise ValueError("lists a file twice")
        return self

    @property
    def size_bytes(self) -> int:
        """The size of all files."""
        return sum(file.size_bytes for file in self.files)

    def folder(self, models: Path) -> Path:
        """Return the model's folder in the folder of all models."""
        return models / self.name

    def weights(self, models: Path) -> Path:
        """Return the file that holds the weights, the first one listed."""
        return self.folder(models) / self.files[0].path


class Catalogue(Row):
    """All known models."""

    models: Annotated[list[Model], Field(alias="model", min_length=1)]

    @model_validator(mode="after")
    def _one_of_each(self) -> "Catalogue":
        names = [model.name for model in self.models]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"lists '{name}' twice")
        for role in {model.role for model in self.models}:
            for choice in ("default", "small"):
                chosen = [m.name for m in self.models if (m.role, m.choice) == (role, choice)]
                if len(chosen) > 1:
                    raise ValueError(f"has several {choice} models for {role}: {chosen}")
        return self

    @classmethod
    def load(cls, path: Path | None = None) -> "Catalogue":
        """Read the catalogue at ``path``, by default the program's own.

        Raises `CatalogueError` that names the row which is wrong, and how.
        """
        file = path or resources.files("voice_agent.catalogue") / "catalogue.toml"
        rows = _read(file)
        try:
            return cls.model_validate(rows)
        except ValidationError as error:
            raise _broken(file, _first_fault(error, rows)) from None

    def model(self, name: str) -> Model:
        """Return the model of that name, or raise `CatalogueError` with the names there are."""
        for model in self.models:
            if model.name == name:
                return model
        known = ", ".join(model.name for model in self.models)
        raise CatalogueError(f"There is no model '{name}'.", mend=f"Known models: {known}.")

    def default(self, role: Role, *, small: bool = False) -> Model:
        """Return the model to use for ``role`` where the user chose none.

        ``small`` prefers the one for small machines, where there is one. Raises `CatalogueError`
        if the role has no default, as turn_end has none.
        """
        ranks: Sequence[Choice] = ("small", "default") if small else ("default",)
        for choice in ranks:
            for model in self.models:
                if (model.role, model.choice) == (role, choice):
                    return model
        raise CatalogueError(f"No model is the default for {role}.", mend="Name one in settings.")

    def defaults(self, *, small: bool = False) -> list[Model]:
        """Return the default model of each role that has one."""
        roles = {m.role: None for m in self.models if m.choice == "default"}
        return [self.default(role, small=small) for role in roles]


def _read(file: Traversable) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise _broken(file, f"cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _broken(file, f"is not TOML: {error}") from None


def _broken(file: Traversable, fault: str) -> CatalogueError:
    return CatalogueError(
        f"The catalogue of models {file} is broken: {fault}.",
        mend="Restore the file from the project, or install it again.",
        file=str(file),
    )


def _first_fault(error: ValidationError, rows: dict[str, Any]) -> str:
    """Say where in the catalogue the first fault is, with rows called by their names."""
    fault = error.errors()[0]
    words, row = [], rows
    for step in fault["loc"]:
        row = _step(row, step)
        name = row.get("name") or row.get("path") if isinstance(row, dict) else None
        if isinstance(step, int):
            words.append(f"'{name}'" if name else f"number {step + 1}")
        elif row is not None or step == fault["loc"][-1]:
            words.append(step)
    return f"{' '.join(words)}: {fault['msg'].removeprefix('Value error, ')}".removeprefix(": ")


def _step(row: Any, step: int | str) -> Any:
    get: Callable[[Any], Any] = getattr(row, "__getitem__", lambda _: None)
    try:
        return get(step)
    except (LookupError, TypeError):
        return None
