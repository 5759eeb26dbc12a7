"""Stage 2 of a build: which rows are kept, and which codes their words have in the whole catalog.

Duplicates are found by 128-bit digests in arrays. The result says for every part which rows to keep. For each column of
words it maps the part's codes to the catalog's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.building.folder import BuildFolder
from ecom_rlve.catalog.building.parts import IDS, LISTINGS, Part, leaf_of
from ecom_rlve.catalog.building.reading import Progress
from ecom_rlve.catalog.columns.array_store import whole_file
from ecom_rlve.catalog.columns.columns import CODED, UNKNOWN_CODE
from ecom_rlve.catalog.columns.table_files import write_categories
from ecom_rlve.catalog.columns.texts import Texts
from ecom_rlve.catalog.product import Category
from ecom_rlve.catalog.rows.catalog_wide import CatalogDecisions, CatalogNotes
from ecom_rlve.catalog.rows.report import MAX_BAD, MOST_FAULTS, DropReason, SourceReport, check_report

STAGE = "planning"
_NEITHER, _ID, _LISTING = 0, 1, 2
_NO_CODE = -2
"""No row has this code."""

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Plan:
    """What is kept of each part. The maps of codes are on disk."""

    folder: Path
    kept: tuple[Rows, ...]
    """Positions of the rows to keep, for each part."""
    report: SourceReport
    priced: int | None = None
    """Code of the currency in which amounts are known; None = all amounts are."""

    def code_map(self, part: int, column: str) -> NDArray[np.int32]:
        """Return the catalog's code for every code of a part; the last element is for the unknown."""
        with np.load(_part_file(self.folder, part), allow_pickle=False) as file:
            codes: NDArray[np.int32] = file[column]
        return codes

    def words(self, column: str) -> Texts:
        """Return the vocabulary of a column of words, in code order."""
        with np.load(_words_file(self.folder), allow_pickle=False) as file:
            return Texts(file[f"{column}.blob"], file[f"{column}.offsets"])


@dataclass(frozen=True, slots=True)
class Rules:
    """What the person who builds a catalog says about its rows."""

    currency: str | None = None
    """Code of the catalog's currency; None = the one that rows state."""
    schema_currency: str | None = "USD"
    """Code for amounts of which no row states one, by the schema (that of Amazon); None where it says nothing."""
    max_bad: float = MAX_BAD
    """Share of rows that may be unreadable."""


def planned(
    parts: Sequence[Part],
    categories: Sequence[Category] | None,
    folder: BuildFolder,
    progress: Progress,
    rules: Rules = Rules(),
) -> Plan:
    """Make the plan, or read it where it was made before.

    ``categories`` are those of products that are final already. Raises :class:`SourceError` where too many rows are
    unreadable, no row states a currency and none is given, or nothing is kept.
    """
    facts = folder.done(STAGE)
    if facts is None:
        report, priced = _make(parts, categories, folder, progress, rules)
        facts = {"read": report.read, "kept": report.kept, "dropped": _by_name(report)}
        facts |= {"faults": report.faults, "priced": priced}
        folder.mark(STAGE, facts)
    else:
        dropped = {DropReason[name]: count for name, count in facts["dropped"].items()}
        report = SourceReport(facts["read"], facts["kept"], dropped, tuple(facts["faults"]))
    kept = [np.load(_kept_file(folder.plan, number), allow_pickle=False) for number in range(len(parts))]
    progress(STAGE, 3 * len(parts), 3 * len(parts))
    return Plan(folder.plan, tuple(kept), report, facts["priced"])


def duplicates(ids: NDArray[np.uint64], listings: NDArray[np.uint64]) -> NDArray[np.int8]:
    """Say for each row whether an earlier kept row has the same id (1), or else the same listing (2); 0 for neither.

    Both arguments are pairs of numbers, shape (rows, 2). Only rows that share an id or a listing with another row are
    looked at one by one.
    """
    verdicts = np.zeros(len(ids), dtype=np.int8)
    own_id, own_listing = _groups(ids), _groups(listings)
    is_shared = (np.bincount(own_id)[own_id] > 1) | (np.bincount(own_listing)[own_listing] > 1)
    rows = np.flatnonzero(is_shared)
    seen_ids, seen_listings = bytearray(len(ids)), bytearray(len(ids))
    for row, group, listing in zip(rows.tolist(), own_id[rows].tolist(), own_listing[rows].tolist(), strict=True):
        if seen_ids[group]:
            verdicts[row] = _ID
        elif seen_listings[listing]:
            verdicts[row] = _LISTING
        else:
            seen_ids[group] = seen_listings[listing] = 1
    return verdicts


def _groups(digests: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return a number for each digest: equal for equal digests, and below the number of rows."""
    order = np.lexsort((digests[:, 1], digests[:, 0]))
    ordered = digests[order]
    is_new = np.ones(len(order), dtype=np.int64)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    groups = np.empty(len(order), dtype=np.int64)
    groups[order] = np.cumsum(is_new) - 1
    return groups


def _make(
    parts: Sequence[Part],
    categories: Sequence[Category] | None,
    folder: BuildFolder,
    progress: Progress,
    rules: Rules,
) -> tuple[SourceReport, int | None]:
    dropped: Counter[DropReason] = sum((part.dropped for part in parts), Counter())
    verdicts = [np.zeros(len(part.array(IDS)), dtype=np.int8) for part in parts]
    if categories is None and parts:
        sizes = np.cumsum([len(verdict) for verdict in verdicts])[:-1]
        everything = [np.concatenate([part.array(name) for part in parts]) for name in (IDS, LISTINGS)]
        verdicts = np.split(duplicates(*everything), sizes)
    for verdict in verdicts:
        dropped[DropReason.DUPLICATE_ID] += int((verdict == _ID).sum())
        dropped[DropReason.DUPLICATE_LISTING] += int((verdict == _LISTING).sum())
    kept = [np.flatnonzero(verdict == _NEITHER) for verdict in verdicts]
    count = sum(map(len, kept))
    faults = tuple(islice((fault for part in parts for fault in part.faults), MOST_FAULTS))
    report = SourceReport(count + dropped.total(), count, {reason: n for reason, n in dropped.items() if n}, faults)
    check_report(report, rules.max_bad)
    steps = _Steps(progress, 3 * len(parts))
    settled = _settled(parts, kept, steps, rules) if categories is None else None
    final = _final_words(parts, kept, settled or _Given(categories or ()), folder, steps)
    for number, (part, rows) in enumerate(zip(parts, kept, strict=True)):
        _write_part(folder.plan, number, part, rows, final)
        steps.advance()
    return report, final.priced


class _Steps:
    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._done, self._total = progress, 0, total
        progress(STAGE, 0, total)

    def advance(self) -> None:
        self._done += 1
        self._progress(STAGE, self._done, self._total)


@dataclass(frozen=True)
class _FinalWords:
    """Which words of the catalog the words of parts become."""

    decisions: CatalogDecisions | None
    """None where the words are final."""
    codes: Mapping[str, Mapping[str, int]]
    """Of the catalog's vocabularies, by column."""
    bare: Mapping[str, str]
    """By column: what the unknown becomes, where it becomes something."""
    priced: int | None
    """Code of the currency in which amounts are known; None = all amounts are."""


def _final_words(
    parts: Sequence[Part],
    kept: Sequence[Rows],
    settled: CatalogDecisions | _Given,
    folder: BuildFolder,
    steps: _Steps,
) -> _FinalWords:
    """Decide names and spellings, and write categories and vocabularies."""
    words: dict[str, set[str]] = {name: set() for name in CODED if name != "category"}
    decisions = settled if isinstance(settled, CatalogDecisions) else None
    bare = _bare(decisions)
    for part, rows in zip(parts, kept, strict=True):
        for name, known in words.items():
            codes_used = part.array(f"{name}.values")[rows]
            own = part.words(name)
            used = [own[code] for code in np.unique(codes_used).tolist() if code != UNKNOWN_CODE]
            known.update(filter(None, _become(decisions, name, used)))
            if name in bare and (codes_used == UNKNOWN_CODE).any():
                known.add(bare[name])
        steps.advance()
    kinds = sorted(settled.categories, key=lambda category: category.name)
    vocabularies = {name: sorted(known) for name, known in words.items()}
    vocabularies["category"] = [kind.name for kind in kinds]
    write_categories(folder.table, kinds)
    _write_words(folder.plan, vocabularies)
    codes = {name: {word: code for code, word in enumerate(known)} for name, known in vocabularies.items()}
    priced = None if decisions is None else codes["currency"].get(decisions.currency.code or "", _NO_CODE)
    return _FinalWords(decisions, codes, bare, priced)


def _become(decisions: CatalogDecisions | None, column: str, words: Sequence[str]) -> list[str]:
    """Return what words of a part become; empty for one that no kept row has.

    Nothing is remembered from part to part: shops have paths of categories without number.
    """
    if decisions is None:
        return list(words)
    changes: dict[str, Callable[[str], str]] = {
        "category": lambda word: decisions.category(leaf_of(word)),
        "brand": decisions.brand,
        "currency": lambda sign: decisions.currency.of(sign) or "",
    }
    change = changes.get(column)
    return [change(word) for word in words] if change else list(words)


def _bare(decisions: CatalogDecisions | None) -> dict[str, str]:
    code = None if decisions is None else decisions.currency.of(None)
    return {"currency": code} if code is not None else {}


@dataclass(frozen=True)
class _Given:
    categories: Sequence[Category]


def _settled(parts: Sequence[Part], kept: Sequence[Rows], steps: _Steps, rules: Rules) -> CatalogDecisions:
    notes = CatalogNotes()
    for part, rows in zip(parts, kept, strict=True):
        if len(rows):
            readings = part.readings()
            for row in rows.tolist():
                notes.note(readings[row])
        steps.advance()
    return notes.decisions(rules.currency, rules.schema_currency)


def _write_part(folder: Path, number: int, part: Part, rows: Rows, final: _FinalWords) -> None:
    maps = {}
    for name in CODED:
        codes, words = final.codes[name], _become(final.decisions, name, part.words(name))
        # A word that only dropped rows have gets no code.
        unknown = codes.get(final.bare.get(name, ""), UNKNOWN_CODE)
        maps[name] = np.array([*(codes.get(word, UNKNOWN_CODE) for word in words), unknown], dtype=np.int32)
    with whole_file(_part_file(folder, number)) as stream:
        np.savez(stream, allow_pickle=False, **maps)
    with whole_file(_kept_file(folder, number)) as stream:
        np.save(stream, rows, allow_pickle=False)


def _write_words(folder: Path, vocabularies: Mapping[str, Sequence[str]]) -> None:
    arrays: dict[str, NDArray[Any]] = {}
    for name, known in vocabularies.items():
        words = Texts.pack(known)
        arrays[f"{name}.blob"], arrays[f"{name}.offsets"] = words.blob, words.offsets
    with whole_file(_words_file(folder)) as stream:
        np.savez(stream, allow_pickle=False, **arrays)


def _by_name(report: SourceReport) -> dict[str, int]:
    return {reason.name: count for reason, count in report.dropped.items()}


def _part_file(folder: Path, number: int) -> Path:
    return folder / f"codes-{number:06d}.npz"


def _kept_file(folder: Path, number: int) -> Path:
    return folder / f"kept-{number:06d}.npy"


def _words_file(folder: Path) -> Path:
    return folder / "words.npz"
