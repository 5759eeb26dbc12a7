"""``python pages/check_site.py FOLDER`` fails where a page of a built site leads nowhere, or loads from another host.

The builder checks the links that stand in Markdown; this checks those of the HTML that came out.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src"}
"""Tags that make a browser load what an attribute names, beside links of style sheets and the like."""
_KEPT_ELSEWHERE = {"canonical", "alternate", "next", "prev"}
"""Relations of a ``<link>`` that load nothing."""
_IN_STYLES = re.compile(r"(?:url\(|@import\s+)[\"']?(https?:|//)[^)\"';]*")


@dataclass
class Page(HTMLParser):
    """What a page links to and loads, and its anchors."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of one tag."""
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") not in _KEPT_ELSEWHERE:
            self.loads.append(given.get("href", ""))
        elif tag in _LOADS and _LOADS[tag] in given:
            self.loads.append(given[_LOADS[tag]])


def faults(folder: Path) -> list[str]:
    """Return what is wrong with a site, a line for each fault."""
    pages = {path: Page() for path in sorted(folder.rglob("*.html"))}
    for path, page in pages.items():
        page.feed(path.read_text())
    found = [f"{path}: leads nowhere: {link}" for path, page in pages.items() for link in _dead(path, page, pages)]
    found += [f"{path}: loads {each}" for path, page in pages.items() for each in page.loads if _is_foreign(each)]
    styles = {path: _IN_STYLES.findall(path.read_text()) for path in sorted(folder.rglob("*.css"))}
    return found + [f"{path}: loads from another host" for path, loads in styles.items() if loads]


def _dead(path: Path, page: Page, pages: dict[Path, Page]) -> list[str]:
    return [link for link in page.links if not _is_foreign(link) and not _leads_somewhere(link, path, pages)]


def _leads_somewhere(link: str, path: Path, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(link)
    # The page that a server shows for an unknown address names the others from the site's root.
    target = (path.parent / unquote(parts.path).removeprefix("/")).resolve() if parts.path else path.resolve()
    if target.is_dir():
        target /= "index.html"
    if target not in pages:
        return target.is_file()
    return not parts.fragment or unquote(parts.fragment) in pages[target].anchors


def _is_foreign(address: str) -> bool:
    return bool(urlsplit(address).scheme or urlsplit(address).netloc) and not address.startswith("data:")


if __name__ == "__main__":
    wrong = faults(Path(sys.argv[1]).resolve())
    print("\n".join(wrong) or "every link leads somewhere, and nothing is loaded from another host")
    sys.exit(bool(wrong))
