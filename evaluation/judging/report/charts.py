"""Line charts as SVG text that takes its colours from the page around it, so that it is readable in light and dark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT = 300, 180
_LEFT, _RIGHT, _TOP, _BOTTOM = 38, 10, 26, 26
_MOST_TICKS = 7

Scale = Callable[[float], float]
Shown = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Point:
    """One value, and the interval that it lies in; both bounds the value itself if there is none."""

    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart."""

    name: str
    style: str
    """CSS class that gives it its colour."""
    points: Sequence[Point]


def line_chart(title: str, lines: Sequence[Line], *, highest: float, unit: str = "") -> str:
    """Return a chart whose y axis goes from 0 to ``highest``; ``unit`` is ``%`` where values are shares of 1."""
    across = sorted({point.x for line in lines for point in line.points})
    first, last = across[0], across[-1]
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def x(value: float) -> float:
        # A single difficulty stands in the middle.
        return round(_LEFT + width * ((value - first) / (last - first) if last > first else 0.5), 1)

    def y(value: float) -> float:
        return round(_TOP + height * (1 - min(value, highest) / highest), 1)

    def shown(value: float) -> str:
        return f"{value:.0%}" if unit == "%" else f"{value:g}{unit}"

    grid = "".join(
        f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(value)}" y2="{y(value)}"/>'
        f'<text x="{_LEFT - 6}" y="{y(value) + 4}" text-anchor="end">{shown(value)}</text>'
        for value in (0, highest / 2, highest)
    )
    step = -(-len(across) // _MOST_TICKS)
    ticks = "".join(
        f'<text x="{x(value)}" y="{_HEIGHT - 8}" text-anchor="middle">{value:g}</text>' for value in across[::step]
    )
    drawn = "".join(_drawn(line, x, y, shown) for line in lines)
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">'
        f'<text class="name" x="{_LEFT}" y="15">{escape(title)}</text>{grid}{ticks}{drawn}</svg>'
    )


def _drawn(line: Line, x: Scale, y: Scale, shown: Shown) -> str:
    points = line.points
    there = [(x(point.x), y(point.y)) for point in points]
    upper = [f"{x(point.x)},{y(point.high)}" for point in points]
    lower = [f"{x(point.x)},{y(point.low)}" for point in reversed(points)]
    band = f'<polygon class="band {line.style}" points="{" ".join(upper + lower)}"/>' if _has_band(points) else ""
    # Where there is one point its interval is a stroke, since a polygon of it would have no area.
    bars = "".join(
        f'<line class="bar {line.style}" x1="{x(p.x)}" x2="{x(p.x)}" y1="{y(p.low)}" y2="{y(p.high)}"/>'
        for p in (points if len(points) == 1 else ())
    )
    path = " ".join(f"{across},{down}" for across, down in there)
    dots = "".join(
        f'<circle class="dot {line.style}" cx="{across}" cy="{down}" r="2.6"><title>{escape(line.name)}, d = '
        f"{point.x:g}: {shown(point.y)}{_interval(point, shown)}</title></circle>"
        for point, (across, down) in zip(points, there, strict=True)
    )
    return f'{band}{bars}<polyline class="line {line.style}" points="{path}"/>{dots}'


def _has_band(points: Sequence[Point]) -> bool:
    return len(points) > 1 and any(point.high > point.low for point in points)


def _interval(point: Point, shown: Shown) -> str:
    return f" ({shown(point.low)} to {shown(point.high)})" if point.high > point.low else ""
