"""Several ways to answer aloud, side by side: what is still to be asked, the figures, the table."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from voice_agent.bench.columns import counted, in_columns
from voice_agent.bench.figures import Spread, spread
from voice_agent.bench.first_sound import AnsweredAloud
from voice_agent.bench.questions import Question
from voice_agent.bench.rows import Row

OURS = "ours"
"""The assistant itself; any other pipeline is compared with it."""

_STAGES = (
    ("endpoint", "endpoint"),
    ("stt", "transcript"),
    ("prompt", "first_token"),
    ("generation", "first_sentence"),
    ("tts", "first_sound"),
)
_REST = "loudspeaker"
STAGES = (*(name for name, _ in _STAGES), _REST)
"""What the wait is made of, in order: each from the end of the one before to its own, as in
`voice_agent.events.Timings`; ``loudspeaker`` is the rest of what the recordings show."""


@dataclass(frozen=True)
class Pipeline:
    """The figures of one pipeline over the questions that all were asked.

    ``of_it`` is our median wait as a share of this one's; ``stages`` are in seconds.
    """

    pipeline: str
    questions: int
    right: int
    word_to_sound_s: Spread
    of_it: float | None
    stages: dict[str, Spread]


def row(model: str, pipeline: str, result: AnsweredAloud) -> Row:
    """Return what is kept of one answer."""
    return {"model": model, "pipeline": pipeline, **asdict(result)}


def merged(rows: Sequence[Row]) -> list[Row]:
    """Return the latest row of each question and pipeline."""
    return list({(each["model"], each["pipeline"], each["id"]): each for each in rows}.values())


def unasked(
    questions: Sequence[Question], rows: Sequence[Row], *, model: str, pipelines: Sequence[str]
) -> list[Question]:
    """Return the questions that not every one of ``pipelines`` was asked yet.

    Such a question is asked of all of them anew, so that all hear the same recording of it.
    """
    done = _asked_of_all(rows, model, pipelines)
    return [question for question in questions if question.id not in done]


def order(pipelines: Sequence[str], n: int) -> list[str]:
    """Return who is asked question number ``n`` first, who next: another one begins each time."""
    first = n % len(pipelines)
    return [*pipelines[first:], *pipelines[:first]]


def figures(rows: Sequence[Row], *, model: str, pipelines: Sequence[str]) -> list[Pipeline]:
    """Return the figures of each pipeline, over the questions that every one of them was asked."""
    done = _asked_of_all(rows, model, pipelines)
    paired = [r for r in merged(rows) if r["model"] == model and r["id"] in done]
    own = {name: [r for r in paired if r["pipeline"] == name] for name in pipelines}
    waits = {name: spread(_waits(answers)) for name, answers in own.items()}
    ours = waits[OURS].median if OURS in waits else None
    return [
        Pipeline(
            pipeline=name,
            questions=len(answers),
            right=sum(r["right"] for r in answers),
            word_to_sound_s=waits[name],
            of_it=_share(ours, waits[name].median),
            stages={stage: spread(_stage(answers, stage)) for stage in STAGES},
        )
        for name, answers in own.items()
    ]


def table(pipelines: Sequence[Pipeline]) -> str:
    """Return a line for each pipeline, and its stages in a second part."""
    head = ["median / 95th percentile (n), s", "right", "word to sound", "ours is"]
    waits = [head, *(_line(each) for each in pipelines)]
    stages = [["seconds of it (medians)", *STAGES], *(_stage_line(each) for each in pipelines)]
    return "\n".join([*in_columns(waits), "", *in_columns(stages)])


def _line(figures: Pipeline) -> list[str]:
    share = "-" if figures.of_it is None else f"{figures.of_it:.0%}"
    right = f"{figures.right} of {figures.questions}"
    return [figures.pipeline, right, counted(figures.word_to_sound_s), share]


def _stage_line(figures: Pipeline) -> list[str]:
    medians = [figures.stages[stage].median for stage in STAGES]
    return [figures.pipeline, *("-" if each is None else f"{each:.2f}" for each in medians)]


def _asked_of_all(rows: Sequence[Row], model: str, pipelines: Sequence[str]) -> set[str]:
    asked = [
        {r["id"] for r in rows if (r["model"], r["pipeline"]) == (model, p)} for p in pipelines
    ]
    return set.intersection(*asked) if asked else set()


def _waits(rows: Sequence[Row]) -> Iterator[float]:
    return (r["word_to_sound_s"] for r in rows if r["word_to_sound_s"] is not None)


def _stage(rows: Sequence[Row], stage: str) -> Iterator[float]:
    lasted = (_stages(each).get(stage) for each in rows)
    return (seconds for seconds in lasted if seconds is not None)


def _stages(row: Row) -> dict[str, float]:
    """Return how long each stage took, without those whose beginning or end is not known."""
    ends = [(name, row["timings"][end]) for name, end in _STAGES]
    ends.append((_REST, row["word_to_sound_s"]))
    before, lasted = 0.0, {}
    for name, end in ends:
        if before is not None and end is not None:
            lasted[name] = round(end - before, 4)
        before = end
    return lasted


def _share(ours: float | None, other: float | None) -> float | None:
    return round(ours / other, 4) if ours is not None and other else None
