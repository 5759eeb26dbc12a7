"""A file of further frames is used as a whole, or refused as a whole with the line of every fault."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.errors import BankError
from ecom_rlve.envs.language.acts import Act, ActKind, Mention
from ecom_rlve.envs.language.bank_files import read_bank
from ecom_rlve.envs.language.frames import DEFAULT_BANK, FORMS, LISTS, acts_in_bank, facts_in_bank, known_frames
from ecom_rlve.envs.language.persona import PERSONAS
from ecom_rlve.envs.language.wording import word
from ecom_rlve.envs.registry import add_bank, environments
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.streams import stream

GOOD = """
[confirm]
any = ["Splendid, that settles the matter for me."]

[open_cart]
chatty = ["Guess what my trolley lacks: {goods}!"]

[facts.color.eq]
noun = ["whose shade goes by the name of {value}"]
"""
VALUES = frozenset(("navy", "stainless steel", "Northwick", "Bell Harbour"))
_NAMED = {"no such": 6, "no list": 7}
"""Line of what is wrong about a table or a list, by the first words of the error; frames stand in line 8."""
# A line of a file, where it goes, and what the error says.
WRONG = {
    "a missing place": ("open_cart", "any", "Hello, I need things.", "needs {goods} exactly once"),
    "a place that is doubled": ("open_cart", "any", "I need {goods} and {goods}.", "needs {goods} exactly once"),
    "an unknown place": ("confirm", "any", "Fine with {colour}.", "nothing fills {colour}"),
    "none of the places for facts": ("answer_bare", "any", "I want this.", "needs exactly one of"),
    "two places for facts": ("answer_bare", "any", "I want {facts}, {tags}.", "needs exactly one of"),
    "a place in a choice": ("open_cart", "any", "I need ({goods}|things).", "a place inside a choice"),
    "a digit": ("confirm", "any", "Fine, all 3 of them.", "states a value"),
    "a number word": ("confirm", "any", "Fine, all three of them.", "states a value"),
    "a currency": ("confirm", "any", "Fine, for those few $.", "states a value"),
    "a colour": ("confirm", "any", "Fine, a Navy dream.", "states a value (Navy)"),
    "a value of two words": ("confirm", "any", "Fine, nerves of stainless steel.", "states a value (stainless steel)"),
    "a brand": ("confirm", "any", "Fine, Northwick it is.", "states a value (Northwick)"),
    "a brand of two words": ("confirm", "any", "Fine, Bell Harbour it is.", "states a value (Bell Harbour)"),
    "a value in a choice": ("confirm", "any", "Fine (dear|navy).", "states a value (navy)"),
    "a value in an agreement": ("confirm", "any", "Fine, [it is|navy].", "states a value (navy)"),
    "markup": ("confirm", "any", "Fine, *great*.", "markup"),
    "a link": ("confirm", "any", "Fine, see https://x.", "markup"),
    "typographic signs": ("confirm", "any", "Fine – great.", "signs that are no ASCII"),
    "double spaces": ("confirm", "any", "Fine,  great.", "double spaces"),
    "no end": ("confirm", "any", "Fine, great", "does not end like a sentence"),
    "an empty line": ("confirm", "any", "", "empty"),
    "spaces around it": ("confirm", "any", " Fine. ", "spaces around it"),
    "a negated place": ("open_cart", "any", "I do not need {goods}.", "negates a place"),
    "too long": ("confirm", "any", "Fine" + " fine" * 100 + ".", "too long"),
    "too many choices": ("confirm", "any", "(a|b|c|d)" * 5 + ".", "more than 256 variants"),
    "an unknown act": ("applaud", "any", "Bravo.", "no such act"),
    "an unknown list": ("confirm", "shouting", "Fine.", "no list of frames"),
    "an unknown kind of fact": ("facts.charm.eq", "noun", "with {value} charm", "no such kind of fact"),
    "an unknown operator": ("facts.color.at_most", "noun", "up to {value}", "no such kind of fact with operator"),
    "an unknown form": ("facts.color.eq", "after", "in a {value} hue", "no list of phrases"),
    "a fact without a place": ("facts.color.eq", "noun", "in some hue", "needs one place for the value"),
    "a fact with two places": ("facts.color.eq", "noun", "in {value} or {bound}", "needs one place for the value"),
    "a range of a colour": ("facts.color.eq", "noun", "from {low} to {high}", "needs one place for the value"),
    "a bound in itself": ("facts.bound.at_most", "bound", "up to {bound}", "needs one place for the value"),
    "a fact with a value": ("facts.color.eq", "noun", "in {value} or navy", "states a value (navy)"),
}  # fmt: skip


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def written(text: str | bytes, name: str = "more.toml") -> Path:
        environments()
        acts_in_bank()
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return written


def refused(*paths: Path) -> list[str]:
    before = DEFAULT_BANK.fingerprint
    with pytest.raises(BankError) as error:
        read_bank(paths, VALUES)
    assert str(error.value).startswith(f"{paths[-1].name}: ")
    assert DEFAULT_BANK.fingerprint == before
    return list(error.value.faults)


@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_line_is_named(fault: str, write: Callable[..., Path]) -> None:
    table, key, text, why = WRONG[fault]
    good = '# A comment.\n\n[close]\nany = ["So long, and take good care of yourself."]\n\n'
    (said,) = refused(write(f'{good}[{table}]\n{key} = [\n  "{text}",\n]\n'))
    assert why in said
    assert said.startswith(f"line {_NAMED.get(why[:7], 8)}: "), said


def test_every_fault_is_named_at_once(write: Callable[..., Path]) -> None:
    said = refused(write('[confirm]\nany = [\n  "Fine",\n  "Fine and dandy to me.",\n  "All 3.",\n]\n[applaud]\n'))
    assert [each.split(":")[0] for each in said] == ["line 3", "line 5", "line 7"]


def test_a_frame_that_is_known_is_named(write: Callable[..., Path]) -> None:
    known = acts_in_bank()["confirm"].lists["any"][0]
    (said,) = refused(write(f'[confirm]\nplain = [\n  "{known.upper()}",\n]\n'))
    assert said.startswith("line 3: twice: ")


def test_a_frame_that_stands_twice_is_named(write: Callable[..., Path]) -> None:
    line = "Splendid, that settles the matter for me."
    (said,) = refused(write(f'[confirm]\nany = [\n  "{line}",\n  "{line}",\n]\n'))
    assert said == f"line 4: twice: {line}"
    (said,) = refused(write(GOOD), write(GOOD[: GOOD.index("[open_cart]")], "again.toml"))
    assert said == f"line 3: twice: {line}"


def test_a_phrase_that_is_known_is_named(write: Callable[..., Path]) -> None:
    forms = facts_in_bank()
    (said,) = refused(write(f'[facts.color.eq]\nnoun = ["{forms["color", "eq"]["noun"].frames[0].text}"]\n'))
    assert said.startswith("line 2: twice: ")


def test_a_phrase_of_another_operator_is_named(write: Callable[..., Path]) -> None:
    lighter = next(each.text for each in facts_in_bank()["weight", "at_most"]["noun"] if "value" in each.places)
    (said,) = refused(write(f'[facts.weight.eq]\nnoun = ["{lighter}"]\n'))
    assert said.startswith("line 2: says another operator: ")


@pytest.mark.parametrize(
    "text",
    [
        "facts = 3", "facts.color = 3", "facts.color.eq = 3", "[facts.color.eq]\nnoun = 'x {value}'",
        "[facts.color.eq]\nnoun = [3]", "confirm = 3", "[confirm]\nany = 'Fine.'", "[confirm]\nany = [3]",
    ],
)  # fmt: skip
def test_another_shape_is_named(text: str, write: Callable[..., Path]) -> None:
    assert refused(write(text))


def test_another_encoding_is_named(write: Callable[..., Path]) -> None:
    assert refused(write('[confirm]\nany = [\n  "Très bien.",\n]\n'.encode("latin-1"))) == ["line 3: not UTF-8"]


def test_broken_toml_is_named_with_its_line(write: Callable[..., Path]) -> None:
    (said,) = refused(write('[confirm]\nany = [\n  "Fine.\n]\n'))
    assert "at line 3" in said


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert "No such file" in refused(tmp_path / "none.toml")[0]


def test_a_pronoun_is_no_number(write: Callable[..., Path]) -> None:
    read_bank([write('[clarify]\nany = ["But which one of those would that be?"]\n')], VALUES)
    (said,) = refused(write('[open_cart]\nany = ["What I lack is one {goods}, dear people."]\n'))
    assert "states a value" in said


def test_a_good_file_is_said_and_changes_the_fingerprint(write: Callable[..., Path]) -> None:
    bank = read_bank([write(GOOD)], VALUES)
    assert bank.fingerprint == read_bank([write(GOOD)], VALUES).fingerprint != DEFAULT_BANK.fingerprint
    assert len(bank.act("confirm").lists["any"]) == len(acts_in_bank()["confirm"].lists["any"]) + 1
    rng = stream(1, "added")
    texts = {word((Act(ActKind.CONFIRM, (Mention("", ""),)),), PERSONAS[0], rng, bank).text for _ in range(2000)}
    assert "Splendid, that settles the matter for me." in texts
    assert bank.forms("color", "eq")["noun"].frames[-1].text == "whose shade goes by the name of {value}"
    assert bank.forms("color", "eq")["clause"].frames == facts_in_bank()["color", "eq"]["clause"].frames


def test_two_files_are_joined(write: Callable[..., Path]) -> None:
    more = '[confirm]\nany = ["Marvellous, no complaints from me."]\n[facts.color.eq]\nnoun = ["a vision in {value}"]\n'
    bank = read_bank([write(GOOD), write(more, "two.toml")], VALUES)
    assert len(bank.act("confirm").lists["any"]) == len(known_frames()["confirm"].lists["any"]) + 2
    assert [each.text for each in bank.forms("color", "eq")["noun"].frames[-2:]] == [
        "whose shade goes by the name of {value}", "a vision in {value}"
    ]  # fmt: skip
    assert bank.fingerprint != read_bank([write(GOOD)], VALUES).fingerprint


def test_the_fingerprint_does_not_depend_on_what_a_process_did_before() -> None:
    """A customer with a question about a rule needs no common table, which once left them out of the stamp."""

    def stamp_of_first(env_id: str) -> str:
        code = (
            "from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec\n"
            "from ecom_rlve.envs.world.shop import Shop\n"
            f"print(Episode(Shop.open('synthetic:2000:0'), EpisodeSpec({env_id!r}, 0, 1), 'episode').metadata.bank)"
        )
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()

    assert stamp_of_first("POLICY") == stamp_of_first("CART") != ""


def test_a_shop_takes_files_for_all_of_its_episodes(write: Callable[..., Path]) -> None:
    shop = Shop.open("synthetic:2000:0")
    spec = EpisodeSpec("CART", 0, 1)
    assert Episode(shop, spec, "episode").metadata.bank == DEFAULT_BANK.fingerprint
    add_bank(shop, [write(GOOD)])
    assert Episode(shop, spec, "episode").metadata.bank == shop.bank.fingerprint != DEFAULT_BANK.fingerprint
    kept, brand = shop.bank, (shop.catalog.column("brand").vocabulary or ())[0]
    with pytest.raises(BankError, match="states a value"):
        add_bank(shop, [write(f'[confirm]\nany = ["Fine, {brand} it is."]\n')])
    assert shop.bank is kept


def test_the_example_of_the_page_is_a_good_file_and_every_list_is_told(write: Callable[..., Path]) -> None:
    page = (Path(__file__).parents[3] / "docs/bank.md").read_text()
    example = page[page.index("```toml\n") :].split("```")[1].removeprefix("toml")
    assert read_bank([write(example)], VALUES).fingerprint != DEFAULT_BANK.fingerprint
    assert all(f"`{name}`" in page for name in (*LISTS, *FORMS))
