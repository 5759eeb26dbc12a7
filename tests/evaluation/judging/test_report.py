"""A report says what the episodes say, needs nothing but itself, and trusts nothing that an agent wrote."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from ecom_rlve.commands.reporting import write_report
from ecom_rlve.evaluation.judging.errors import OutputError, ResultsError
from ecom_rlve.evaluation.judging.folder import EPISODES
from ecom_rlve.evaluation.judging.report import measures
from ecom_rlve.evaluation.judging.report.content import report_on
from ecom_rlve.evaluation.judging.report.markdown import markdown
from ecom_rlve.evaluation.judging.report.outcomes import Outcome, RunResults, read_results
from ecom_rlve.evaluation.judging.report.page import page
from ecom_rlve.evaluation.statistics import wilson

SCRIPT = "<script>alert(1)</script>|</div>"


class Tags(HTMLParser):
    """Collects tags, and fails where they do not nest."""

    VOID = frozenset({"meta", "line", "circle", "polygon", "polyline", "link", "br", "img"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


def parsed(html: str) -> Tags:
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    return tags


@pytest.fixture(scope="module")
def good(played: Path) -> RunResults:
    return read_results(played, "good")


@pytest.fixture(scope="module")
def bad(played_badly: Path) -> RunResults:
    return read_results(played_badly, "bad")


def test_figures_are_those_of_the_episodes(good: RunResults, bad: RunResults) -> None:
    assert (len(good.outcomes), good.planned, good.discloses_acts) == (16, 16, True)
    correct = sum(each.is_correct for each in good.outcomes)
    found = measures.success(good.outcomes)
    assert found.share == correct / 16
    # Equal trials tell no more than one: eight episodes.
    assert (found.low, found.high) == pytest.approx(wilson(correct / 16, 8))
    assert measures.pass_hat(good.outcomes, 3) == [correct / 16] * 2
    total = sum(each.result.r_total for each in good.outcomes) / 16
    assert measures.parts(good.outcomes).r_total == pytest.approx(total)
    assert sum(measures.endings(bad.outcomes).values()) == 12
    assert measures.success(bad.outcomes).share == 0
    assert list(measures.by_env(bad)) == ["CART", "STATUS", "POLICY", "all"]
    assert {each.task.env_id for each in measures.worst(bad)} == {"CART", "STATUS", "POLICY"}
    assert measures.worst(replace(good, outcomes=[each for each in good.outcomes if each.is_correct])) == []


def test_runs_are_compared_over_what_both_played(good: RunResults, bad: RunResults) -> None:
    found = measures.compare(good.outcomes, bad.outcomes)
    assert found is not None
    assert found.success.pairs == 8
    assert found.success.mean == pytest.approx(-measures.success(good.outcomes).share)
    assert found.success.p < 0.05
    same = measures.compare(good.outcomes, good.outcomes)
    assert same is not None
    assert (same.success.mean, same.success.p, same.reward.mean) == (0, 1, 0)
    policy = [each for each in bad.outcomes if each.task.env_id == "POLICY"]
    assert measures.compare(good.outcomes, policy) is None


def test_an_axis_that_goes_with_failure_is_found(bad: RunResults) -> None:
    """Episodes of difficulty 2 fail, those of difficulty 0 do not."""
    right = {"is_correct": True}
    outcomes: list[Outcome] = [
        replace(each, result=each.result.model_copy(update=right)) if each.task.difficulty == 0 else each
        for each in bad.outcomes
    ]
    effects = measures.axis_effects(outcomes, ["p_noise", "top_k", "b_tool", "k_rec"])
    assert {effect.axis: round(effect.rho, 6) for effect in effects} == {"b_tool": 1, "p_noise": 1, "top_k": -1}
    assert measures.axis_effects(bad.outcomes, ["p_noise"]) == []
    assert measures.axis_effects([], ["p_noise"]) == []


def test_the_page_is_whole_and_needs_nothing_else(good: RunResults, bad: RunResults) -> None:
    html = page(report_on([good, bad]))
    tags = parsed(html)
    names = [tag for tag, _ in tags.seen]
    assert {"script", "link", "img", "iframe"} & set(names) == set()
    assert [value for _, attributes in tags.seen for value in attributes.values() if value and "//" in value] == []
    assert re.findall(r"url\(|@import|https?:", html) == []
    assert names.count("svg") == 2 * 4
    assert names.count("details") == len(measures.worst(good)) + len(measures.worst(bad))
    for word in (
        "prefers-color-scheme: dark",
        "width=device-width",
        "pass^2",
        "bad against good",
        "no result for a board",
    ):
        assert word in html


def test_what_an_agent_wrote_is_shown_as_text(bad: RunResults, tmp_path: Path, played_badly: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(played_badly, folder)
    lines = [json.loads(line) for line in (folder / EPISODES).read_text().splitlines()]
    for line in lines:
        line["fault"] = {"kind": "crash", "message": SCRIPT}
        line["trace"] = line["trace"].replace(
            '"answer": {"done": true', f'"assistant_message": {json.dumps(SCRIPT)}, "answer": {{"done": true'
        )
    (folder / EPISODES).write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = report_on([read_results(folder, SCRIPT)])
    html = page(report)
    assert "script" not in [tag for tag, _ in parsed(html).seen]
    assert html.count("&lt;script&gt;alert(1)") > 10
    assert "<script" not in markdown(report)
    assert "\\|" in markdown(report)
    assert len(bad.outcomes) == 12


def test_markdown_has_the_same_figures(good: RunResults, bad: RunResults) -> None:
    text = markdown(report_on([good, bad]))
    for heading in (
        "## bad against good",
        "### Success by difficulty",
        "### pass^k",
        "### Endings",
        "### Worst episodes",
    ):
        assert heading in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    widths = [line.count("|") - line.count("\\|") for line in rows]
    assert min(widths) >= 2
    assert f"{measures.success(good.outcomes).share:.1%}" in text


def test_an_unfinished_run_says_so(tmp_path: Path, played: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(played, folder)
    whole = (folder / EPISODES).read_bytes()
    (folder / EPISODES).write_bytes(whole[: whole.rfind(b"\n", 0, -1) - 5])
    html, text = write_report([folder], tmp_path / "part.html")
    assert "2 episodes are missing" in html.read_text()
    assert "2 episodes are missing" in text.read_text()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("config.json", None, r"config\.json does not exist: .* holds no results of `ecom-rlve eval`"),
        ("config.json", "{", r"config\.json is no configuration of a run"),
        ("config.json", '{"format": 1}', r"config\.json is no configuration of a run: run_id: Field required"),
        ("episodes.jsonl", None, r"episodes\.jsonl does not exist"),
        ("episodes.jsonl", "", "holds no episode yet"),
        ("episodes.jsonl", '{"a": 1}\n', r"episodes\.jsonl, line 1 is no line of a run"),
        ("episodes.jsonl", "\x00\x01\n", r"episodes\.jsonl, line 1 is no line of a run"),
        ("failures.jsonl", "[]\n", r"failures\.jsonl, line 1 is no line of a run"),
    ],
)
def test_a_foreign_or_truncated_folder_is_told_by_its_file(
    tmp_path: Path, played: Path, name: str, text: str | None, message: str
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(played, folder)
    (folder / name).unlink()
    if text is not None:
        (folder / name).write_text(text)
    with pytest.raises(ResultsError, match=message):
        write_report([folder], tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_where_a_report_cannot_go(tmp_path: Path, played: Path) -> None:
    with pytest.raises(OutputError, match="name of the Markdown"):
        write_report([played], tmp_path / "report.md")
    with pytest.raises(OutputError, match="cannot be written"):
        write_report([played], tmp_path / "nowhere" / "report.html")
    with pytest.raises(ResultsError, match="at most 6 runs"):
        write_report([played] * 7, tmp_path / "report.html")
