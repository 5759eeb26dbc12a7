"""Audits of what is installed: licences, from its own metadata, and known faults, from a report of pip-audit.

    python deploy/audit.py licences
    python deploy/audit.py advisories REPORT      a report that `pip-audit --format json` has written

Either ends with 1 where something is wrong, and where nothing was looked at: an audit that skips everything is no pass.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

OWN = "ecom-rlve"
ALLOWED = frozenset(
    {
        "0BSD",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "CC0-1.0",
        "ISC",
        "MIT",
        "MIT-0",
        "MIT-CMU",
        # Its files may be used beside ours as long as they themselves stay under it.
        "MPL-2.0",
        "PSF-2.0",
        "Unlicense",
        "Zlib",
    }
)
"""SPDX identifiers of what may be distributed beside Apache-2.0."""
_STATED = {
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "bsd": "BSD-3-Clause",
    "bsd license": "BSD-3-Clause",
    "isc license": "ISC",
    "isc license (iscl)": "ISC",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "python software foundation license": "PSF-2.0",
    "the unlicense (unlicense)": "Unlicense",
}
"""How packages spell a licence that state no SPDX expression."""
_WORDS = re.compile(r"[()]|[^\s()]+")


def is_allowed(expression: str) -> bool:
    """Tell whether an SPDX expression can be met: every part of ``AND``, one part of ``OR``.

    >>> is_allowed("MPL-2.0 AND (GPL-3.0-only OR MIT)"), is_allowed("MIT AND GPL-3.0-only"), is_allowed("")
    (True, False, False)
    """
    words = _WORDS.findall(expression)
    try:
        met = _any(words)
    except IndexError:
        return False
    return met and not words


def _any(words: list[str]) -> bool:
    met = _all(words)
    while words and words[0].upper() == "OR":
        del words[0]
        met = _all(words) or met
    return met


def _all(words: list[str]) -> bool:
    met = _one(words)
    while words and words[0].upper() == "AND":
        del words[0]
        met = _one(words) and met
    return met


def _one(words: list[str]) -> bool:
    word = words.pop(0)
    if word != "(":
        return word in ALLOWED
    met = _any(words)
    return words.pop(0) == ")" and met


def stated(distribution: Distribution) -> list[str]:
    """Return every licence that a package states, as SPDX where the spelling is known."""
    facts = distribution.metadata
    if expressions := facts.get_all("License-Expression", []):
        return expressions
    classifiers = [
        each.rpartition(" :: ")[2] for each in facts.get_all("Classifier", []) if each.startswith("License ")
    ]
    # Some put the whole text there.
    found = classifiers or [each.strip() for each in facts.get_all("License", [])]
    return [_STATED.get(each.lower(), each) for each in found if each and "\n" not in each]


def forbidden(installed: Iterable[Distribution]) -> Iterator[str]:
    """Yield a line for each package whose licence is unknown or not allowed; one for all if there is no package."""
    count = 0
    for each in installed:
        count += 1
        licences = stated(each)
        # Of several classifiers each covers a part, or they are a choice: none may be forbidden.
        if not licences or not all(map(is_allowed, licences)):
            yield f"{each.metadata['Name']}: {', '.join(licences) or 'no licence is stated'}"
    if not count:
        yield "nothing was audited"


def faults(report: Any) -> Iterator[str]:
    """Yield a line for each known fault, and for each package that was not looked up; raises ``KeyError``."""
    audited = 0
    for each in report["dependencies"]:
        if each["name"].lower() == OWN:
            continue
        if "skip_reason" in each:
            yield f"{each['name']} was skipped: {each['skip_reason']}"
            continue
        audited += 1
        for fault in each["vulns"]:
            yield f"{each['name']} {each['version']}: {fault['id']}, mended in {fault['fix_versions']}"
    if not audited:
        yield "nothing was audited"


def main(arguments: list[str]) -> int:
    """Carry out one audit, print what is wrong, and return the exit status."""
    match arguments:
        case ["licences"]:
            found = sorted(set(forbidden(distributions())))
        case ["advisories", path]:
            try:
                found = list(faults(json.loads(Path(path).read_text(encoding="utf-8"))))
            except (OSError, ValueError, KeyError, TypeError) as error:
                found = [f"{path} is no report of pip-audit: {error!r}"]
        case _:
            print(__doc__)
            return 2
    print("\n".join(found) or "nothing is wrong")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
