"""Settings of what finds and writes answers.

Names, defaults and bounds: design.md "Settings" and research-loop.md "Settings".
"""

from typing import Annotated, Literal

from pydantic import BeforeValidator, field_validator

from voice_agent.settings.fields import Section, from_commas, setting

OptionalTool = Literal["date_time", "calculator", "add_note", "ask_user"]


class Llm(Section):
    """The language model."""

    provider: Literal["local", "openai"] = setting(
        "local",
        "Where the model runs",
        "local: on this machine, nothing leaves it. "
        "openai: questions and evidence go to the server at llm.base_url.",
    )
    model: str = setting(
        "qwen2.5-coder-1.5b-instruct",
        "Language model",
        "The language model on this machine; llm.remote_model names the one on a server.",
        expects="a model for llm in 'voice-agent models list'",
        role="llm",
    )
    context_tokens: int = setting(
        8192,
        "Context",
        "How much the model can hold at once; on this machine more needs more memory, "
        "on a server it must not be more than the model was started with.",
        unit="tokens",
        ge=1024,
        le=131_072,
    )
    threads: int = setting(
        0,
        "Threads",
        "Processor threads for the local model; 0 takes all cores, eight at most.",
        ge=0,
        le=64,
    )
    base_url: str = setting(
        "",
        "Server address",
        "Address of an OpenAI-compatible server, such as http://localhost:8080/v1.",
        expects="empty or an address that begins with http:// or https://",
    )
    api_key_file: str = setting(
        "",
        "Key file",
        "A file that holds the server's key; the key itself is never kept in the settings. "
        "Empty: the environment's OPENAI_API_KEY, if any.",
        expects="empty or the path of a file, beginning with / or ~ (never the key itself)",
        private=True,
    )
    remote_model: str = setting("", "Server's model", "The model's name on the server.")

    @property
    def model_in_use(self) -> str:
        """The model's name, wherever it runs."""
        return self.model if self.provider == "local" else self.remote_model

    @field_validator("base_url")
    @classmethod
    def _address(cls, address: str) -> str:
        if address and not address.startswith(("http://", "https://")):
            raise ValueError("is not an address")
        return address

    @field_validator("api_key_file")
    @classmethod
    def _path(cls, path: str) -> str:
        if path and not path.startswith(("/", "~")):
            raise ValueError("is not a path")
        return path

    def thread_count(self, cores: int) -> int:
        """Return how many threads to start on a machine with ``cores``."""
        return self.threads or max(1, min(cores, 8))


class Library(Section):
    """The user's documents."""

    max_file_mb: int = setting(
        20, "Largest document", "Larger files are left out, with a notice.", unit="MB", ge=1, le=500
    )


class Tools(Section):
    """The model's tools."""

    enabled: Annotated[list[OptionalTool], BeforeValidator(from_commas)] = setting(
        ["date_time", "calculator", "add_note"],
        "Tools",
        "What the model may use besides your documents, separated by commas: the date and time, "
        "a calculator, writing down notes, and asking you back.",
    )
    notes_folder: str = setting(
        "~/Notes",
        "Notes",
        "The folder in which notes are written down, a Markdown file for each list.",
        expects="the path of a folder, beginning with / or ~",
    )
    confirm_writes: bool = setting(
        True, "Ask before writing", "Ask before a tool's first change in a conversation."
    )

    @field_validator("enabled")
    @classmethod
    def _each_once(cls, tools: list[OptionalTool]) -> list[OptionalTool]:
        return list(dict.fromkeys(tools))

    @field_validator("notes_folder")
    @classmethod
    def _absolute(cls, path: str) -> str:
        if not path.startswith(("/", "~")):
            raise ValueError("is not the path of a folder")
        return path


class Research(Section):
    """Research before an answer."""

    timeout_s: float = setting(
        300.0, "Research time", "Research of a reply ends after this.", unit="s", ge=10, le=3600
    )
    token_budget: int = setting(
        65_536,
        "Token budget",
        "Tokens that a reply's research may be charged.",
        unit="tokens",
        ge=1024,
        le=2_000_000,
    )
    no_progress_rounds: int = setting(
        4,
        "Rounds without progress",
        "Research ends after so many reading rounds in a row without new evidence.",
        unit="rounds",
        ge=2,
        le=20,
    )
    max_steps: int = setting(
        0,
        "Step limit",
        "Most model requests of a reply, the last being the answer without tools; 0: no limit.",
        unit="requests",
        ge=0,
        le=64,
        expects="0 (no limit) or a whole number from 2 to 64",
    )
    prefetch: bool = setting(
        True, "Search first", "Search the library with the question before the first request."
    )

    @field_validator("max_steps")
    @classmethod
    def _room_for_an_answer(cls, steps: int) -> int:
        if steps == 1:
            raise ValueError("leaves no request for research")
        return steps


class Answer(Section):
    """The final answer."""

    max_tokens: int = setting(
        512,
        "Longest answer",
        "Output space of the final answer, apart from the research budget.",
        unit="tokens",
        ge=64,
        le=8192,
    )
    timeout_s: float = setting(
        120.0, "Answer time", "Deadline of the final request.", unit="s", ge=10, le=600
    )
    first_word_s: float = setting(
        6.0,
        "Time to the first word",
        "How long the final request may process before its first word; sizes the evidence.",
        unit="s",
        ge=1,
        le=60,
    )
    compose: Literal["auto", "evidence", "transcript"] = setting(
        "auto",
        "What the answer is made from",
        "evidence: a short request with what was found. transcript: the whole exchange. "
        "auto: evidence with the local model, transcript with a server.",
    )
    excerpt_chars: int = setting(
        1200,
        "Longest excerpt",
        "Bound of the excerpt that stands in for an answer that failed.",
        unit="characters",
        ge=200,
        le=10_000,
    )


class History(Section):
    """The record of turns."""

    keep_days: int = setting(
        0, "Keep turns", "Older turns are deleted; 0 keeps them all.", unit="days", ge=0, le=3650
    )


class Recordings(Section):
    """Recordings of what you ask. They stay on this machine, and go with their turns."""

    keep: bool = setting(
        False,
        "Keep recordings",
        "Keep the sound of each question that the microphone heard, beside the history.",
    )
    max_age_days: int = setting(
        7, "Age of recordings", "Older ones are deleted.", unit="days", ge=1, le=365
    )
