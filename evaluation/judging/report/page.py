"""A report as one HTML file that needs nothing else: no script, no font, no picture from anywhere."""

from __future__ import annotations

from importlib.resources import files

from jinja2 import Environment, StrictUndefined

from ecom_rlve.evaluation.judging.report.content import Report, percent, with_interval
from ecom_rlve.evaluation.judging.report.measures import ENDINGS

_TEMPLATE = "page.html.j2"


def page(report: Report) -> str:
    """Return the HTML. Whatever comes from an agent or a catalog is shown as text."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"percent": percent, "with_interval": with_interval}
    template = environment.from_string(files(__package__ or "").joinpath(_TEMPLATE).read_text(encoding="utf-8"))
    return template.render(report=report, ending_names=ENDINGS)
