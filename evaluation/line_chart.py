"""Line charts as SVG text: several small charts with one step line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise

_COLUMNS = 4
_WIDTH, _HEIGHT = 200, 150
"""Size of one chart with its labels, in pixels."""
_LEFT, _TOP, _RIGHT, _BOTTOM = 28, 26, 10, 26
_STYLE = (
    "text{font:11px sans-serif;fill:#444}.name{font-weight:bold}.grid{stroke:#ddd}"
    ".line{fill:none;stroke:#1f6feb;stroke-width:2}"
)


def charts(lines: Mapping[str, Sequence[int]], *, title: str) -> str:
    """Return one chart per line, all on the same scales: y from 0 up, x from 0 to the number of values.

    ``lines`` maps a chart's name to its values: whole numbers, at least one.
    """
    highest = max(1, *(max(values) for values in lines.values()))
    longest = max(len(values) for values in lines.values())
    rows = -(-len(lines) // _COLUMNS)
    width, height = _COLUMNS * _WIDTH, rows * _HEIGHT + _TOP
    drawn = [
        _chart(name, values, highest, longest, (at % _COLUMNS) * _WIDTH, _TOP + at // _COLUMNS * _HEIGHT)
        for at, (name, values) in enumerate(lines.items())
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">\n'
        f"<style>{_STYLE}</style>\n"
        f'<rect width="{width}" height="{height}" fill="#fff"/>\n'
        f'<text x="{_LEFT}" y="17">{escape(title)}</text>\n'
    )
    return head + "".join(drawn) + "</svg>\n"


def _chart(name: str, values: Sequence[int], highest: int, longest: int, left: int, top: int) -> str:
    inner_width, inner_height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def x(number: float) -> float:
        return round(left + _LEFT + inner_width * number / longest, 1)

    def y(value: float) -> float:
        return round(top + _TOP + inner_height * (1 - value / highest), 1)

    points = [(x(number), y(value)) for number, value in enumerate(values)]
    corners = [points[0]]
    for before, after in pairwise(points):
        if after[1] != before[1]:
            corners += [(after[0], before[1]), after]
    corners.append((x(len(values)), points[-1][1]))
    line = " ".join(f"{across},{down}" for across, down in corners)
    grid = "".join(
        f'<line class="grid" x1="{x(0)}" x2="{x(longest)}" y1="{y(value)}" y2="{y(value)}"/>\n'
        f'<text x="{left + _LEFT - 6}" y="{y(value) + 4}" text-anchor="end">{value}</text>\n'
        for value in sorted({0, highest // 2, highest})
    )
    return (
        f'<text class="name" x="{x(0)}" y="{top + _TOP - 8}">{escape(name)}</text>\n{grid}'
        f'<text x="{x(longest)}" y="{y(0) + 16}" text-anchor="end">{longest}</text>\n'
        f'<polyline class="line" points="{line}"/>\n'
    )
