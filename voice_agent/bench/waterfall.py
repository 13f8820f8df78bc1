"""A picture of where the time goes until the first sound: SVG, written by hand."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _LEFT, _RIGHT, _TOP, _ROW, _BAR = 760, 170, 70, 60, 34, 18
_COLOURS = ("#8ecae6", "#219ebc", "#126782", "#ffb703", "#fb8500", "#9b5de5")
_TICKS = 8
_STEPS_S = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)


@dataclass(frozen=True)
class Stage:
    """A stage that ends ``median_s`` (``p95_s``) after the last word, in the median (95 of 100)."""

    name: str
    median_s: float
    p95_s: float


def waterfall(title: str, stages: Sequence[Stage]) -> str:
    """Return an SVG document: a bar for each stage, from the end of the one before to its own.

    The thin line is the 95th percentile of the stage's end.
    """
    longest_s = max([stage.p95_s for stage in stages] + [0.1])
    step_s = next((step for step in _STEPS_S if longest_s / step <= _TICKS), longest_s / _TICKS)
    scale = (_WIDTH - _LEFT - _RIGHT) / longest_s
    height = _TOP + _ROW * len(stages) + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
        _text(16, 26, title, extra=' font-size="15" font-weight="bold"'),
    ]
    parts += _axis(longest_s, step_s, scale, bottom=height - 30)
    before_s = 0.0
    for n, stage in enumerate(stages):
        parts += _row(n, stage, before_s, scale)
        before_s = stage.median_s
    return "\n".join([*parts, "</svg>"]) + "\n"


def _axis(longest_s: float, step_s: float, scale: float, *, bottom: int) -> list[str]:
    parts = []
    for n in range(int(longest_s / step_s) + 1):
        x = _LEFT + n * step_s * scale
        parts.append(
            f'<line x1="{x:.1f}" y1="{_TOP - 8}" x2="{x:.1f}" y2="{bottom}" stroke="#ddd"/>'
        )
        parts.append(_text(x, bottom + 18, f"{n * step_s:g} s", extra=' text-anchor="middle"'))
    return parts


def _row(n: int, stage: Stage, before_s: float, scale: float) -> list[str]:
    top = _TOP + n * _ROW
    x, end = _LEFT + before_s * scale, _LEFT + stage.median_s * scale
    left, width = min(x, end), max(abs(end - x), 1.0)
    middle = top + _BAR / 2
    last = _LEFT + stage.p95_s * scale
    return [
        _text(_LEFT - 10, top + 14, stage.name, extra=' text-anchor="end"'),
        f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{_BAR}" '
        f'fill="{_COLOURS[n % len(_COLOURS)]}"/>',
        f'<line x1="{end:.1f}" y1="{middle}" x2="{last:.1f}" y2="{middle}" stroke="#444"/>',
        _text(last + 6, top + 14, f"{stage.median_s:.2f}"),
    ]


def _text(x: float, y: float, text: str, *, extra: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y}"{extra}>{escape(text)}</text>'
