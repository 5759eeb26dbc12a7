"""A report as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ecom_rlve.evaluation.judging.report.content import Report, Section, Table, percent


def markdown(report: Report) -> str:
    """Return the report as Markdown; the worst episodes are only listed."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield "# Report"
    for title, table in report.comparisons:
        yield from ("", f"## {title}", "", *_table(table))
        yield from ("", "`*`: p < 0.05, by a paired sign-flip test over the episodes that both played.")
    for section in report.sections:
        yield from _section(section)


def _section(section: Section) -> Iterator[str]:
    yield from ("", f"## {_cell(section.name)}", "")
    yield from (f"- {name}: {_cell(value)}" for name, value in section.about.rows)
    yield from (f"- **{warning}**" for warning in section.warnings)
    heat = [
        (
            env_id,
            *(
                "" if each is None else f"{percent(each.share)} ({percent(each.low)}–{percent(each.high)})"
                for each in row
            ),
        )
        for env_id, row in section.heat
    ]
    endings = Table(
        ("", "endings"),
        [
            (env_id, ", ".join(f"{name} {n} ({percent(share)})" for name, n, share in row))
            for env_id, row in section.endings
        ],
    )
    parts: list[tuple[str, Table | None]] = [
        ("Success by difficulty, with Wilson intervals", Table(section.heat_head, heat)),
        ("pass^k", section.pass_hat),
        ("Reward and its parts", section.parts),
        ("Endings", endings),
        ("What was wrong", section.reasons),
        ("Turns", section.turns),
        ("Axes that go with failure", section.axes),
        ("What happened, and success", section.events),
        ("Questions", section.asking),
        ("Worst episodes", Table(("episode",), [(each.title,) for each in section.worst]) if section.worst else None),
    ]
    for title, table in parts:
        if table is not None:
            yield from ("", f"### {title}", "", *_table(table))


def _table(table: Table) -> Iterator[str]:
    yield _row(table.head)
    yield "|" + " --- |" * len(table.head)
    yield from map(_row, table.rows)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_cell, cells)) + " |"


def _cell(text: str) -> str:
    """Return a text that ends no cell and begins no HTML: it may be a model's."""
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())
