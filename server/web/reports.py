"""Reports of evaluations, shown inside the page."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from ecom_rlve.server.web.views.html import el, note

MOST_BYTES = 20_000_000
"""Largest report that is shown."""
POLICY = (
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; img-src data:; font-src data:\">"
)
"""Stands before a report: it can load nothing."""
_NONE = "There is no report yet. `ecom-rlve report FOLDER` writes one; open it here."
_UNSET = (
    "Open a report that `ecom-rlve report FOLDER` wrote: it stays in your browser. "
    "The server shows its latest one here if ECOM_RLVE_REPORTS is set."
)


def latest(folder: Path | None) -> Markup:
    """Return the newest HTML file in a folder or a folder of it; say so where there is none."""
    if folder is None:
        return note(_UNSET)
    files = [path for pattern in ("*.html", "*/*.html") for path in folder.glob(pattern) if path.is_file()]
    return framed(max(files, key=lambda path: path.stat().st_mtime)) if files else note(_NONE)


def framed(path: Path) -> Markup:
    """Return a report in a frame that can reach neither this page nor the network.

    Its scripts run, with an origin of their own. The page's script frames a visitor's file in the same way.
    """
    if path.stat().st_size > MOST_BYTES:
        return note(f"A report is at most {MOST_BYTES // 1_000_000} MB.", "problem")
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError:
        return note("This is no HTML file.", "problem")
    if "<html" not in text[:2000].lower():
        return note("This is no HTML file.", "problem")
    return el("iframe", srcdoc=POLICY + text, sandbox="allow-scripts", title=f"Report {path.name}", class_="report")
