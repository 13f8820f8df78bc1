"""The measurements of single parts for people: a line each, and a table at the end."""

from voice_agent.bench.columns import counted, in_columns, short
from voice_agent.bench.generating import UNITS, LlmFigures, LlmTaken
from voice_agent.bench.shelf import LibrarySize
from voice_agent.bench.transcribing import RecordingHeard, SttFigures
from voice_agent.bench.voicing import SentenceVoiced, TtsFigures
from voice_agent.events import Event


def shown(event: Event) -> str:
    """Return what a person reads of a result or of the figures; "" of anything else."""
    match event:
        case RecordingHeard():
            return _recording(event)
        case SttFigures():
            return "\n" + _stt(event)
        case SentenceVoiced():
            return f"{event.clause_s:6.2f} s  {event.synthesis_s:6.2f} s  {short(event.text)}"
        case TtsFigures():
            return "\n" + _tts(event)
        case LlmTaken():
            return f"{event.what:18}  {event.value:8.2f} {UNITS[event.what]}"
        case LlmFigures():
            return "\n" + _llm(event)
        case LibrarySize():
            return _library(event)
    return ""


def _recording(result: RecordingHeard) -> str:
    ours, stock = result.heard[:2]
    times = f"{result.audio_s:6.1f} s  ours {ours.stt_s:.2f} s, stock {stock.stt_s:.2f} s"
    return f"{times}  {short(ours.text)}"


def _stt(figures: SttFigures) -> str:
    rows = [["recordings", "way", "median / 95th percentile (n), s", "of stock", "word errors"]]
    for row in figures.rows:
        share = row.word_errors / row.words if row.words else 0.0
        errors = f"{row.word_errors} of {row.words} ({share:.1%})"
        cells = [row.recordings, row.way.name, counted(row.stt_s), f"{row.of_stock:.0%}"]
        rows.append([*cells, errors if row.words else "-"])
    return "\n".join(
        [
            *in_columns(rows),
            f"{figures.recordings} recordings, {figures.audio_s:g} s ({figures.model}, "
            f"{figures.threads} threads for all). 'of stock' compares the sums of all times.",
        ]
    )


def _tts(figures: TtsFigures) -> str:
    rows = [
        ["", "median / 95th percentile (n)"],
        ["first clause alone, s", counted(figures.clause_s)],
        ["the same sentences whole, s", counted(figures.whole_s)],
        ["rest later than the clause's end, s", counted(figures.late_s)],
        ["the clause's length, characters", counted(figures.clause_chars, ".0f")],
        ["all sentences, s", counted(figures.sentence_s)],
        ["seconds a second of sound", counted(figures.real_time_factor)],
    ]
    counts = f"{figures.divided} of {figures.sentences} sentences have a first clause"
    length = f"of at least {figures.first_clause_chars} characters"
    sound = f"{figures.sound_s:g} s of sound ({figures.voice})"
    return "\n".join([*in_columns(rows), f"{counts} {length}; {sound}."])


def _llm(figures: LlmFigures) -> str:
    rows = [[figures.model, "tokens", "median / 95th percentile (n)", "unit"]]
    rows += [[row.what, str(row.tokens), counted(row.values), row.unit] for row in figures.rows]
    return "\n".join(in_columns(rows))


def _library(size: LibrarySize) -> str:
    return (
        f"{size.passages:9,} passages  indexed in {size.index_s:.1f} s ({size.passages_per_s}/s)"
        f"  nothing new {size.sync_s:.2f} s  search {counted(size.search_s, '.4f')} s"
        f"  {size.file_mb:.1f} MB on disk"
        f"  memory +{size.index_memory_mb:.0f} MB indexing, "
        f"+{size.search_memory_mb:.0f} MB searching"
    )
