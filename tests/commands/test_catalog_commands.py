"""``ecom-rlve catalog``, run as a person runs it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from ecom_rlve.cli import main
from ecom_rlve.commands.serving import served
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.local_server import local_server


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    """Return exit status, output and errors of a command."""
    with pytest.raises(SystemExit) as ended:
        main(["catalog", *arguments])
    return (ended.value.code, *capsys.readouterr())


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("built") / "shop"
    with pytest.raises(SystemExit) as ended:
        main(["catalog", "build", "--source", "synthetic:600:0", "--out", str(out), "--limit", "500"])
    assert ended.value.code == 0
    return out


def test_a_build_says_what_it_made(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    row = '{"parent_asin": "A1", "title": "A mug", "price": 3.5, "categories": ["Kitchen", "Mugs"]}\n'
    rows.write_text(row * 2)
    status, out, err = run(capsys, "build", "--source", str(rows), "--out", str(tmp_path / "out"))
    assert (status, err) == (0, "")
    assert "2 rows read, 1 kept\n" in out
    assert "1 dropped: an id that an earlier row has\n" in out
    assert f"{tmp_path / 'out'}: 1 products, " in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["build", "--source", "nothing", "--out", "{}/x"], "is no source of products"),
        (["build", "--source", "synthetic:50", "--out", "{}"], "exists; delete it or choose another --out"),
        (["inspect", "nothing"], "is no source of products"),
        (["inspect", "{}/.."], "is no catalog: it has no manifest.json"),
    ],
)
def test_refusals_are_one_line(
    capsys: pytest.CaptureFixture[str], built: Path, arguments: list[str], message: str
) -> None:
    status, out, err = run(capsys, *(argument.format(built) for argument in arguments))
    assert (status, out) == (1, "")
    assert err.startswith("ecom-rlve: ")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", [["build"], ["build", "--source", "x", "--out", "y", "--workers", "0"], ["dance"]]
)
def test_wrong_usage_is_told(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    status, _, err = run(capsys, *arguments)
    assert status == 2
    assert "Usage" in err


def test_a_folder_is_inspected(capsys: pytest.CaptureFixture[str], built: Path) -> None:
    status, out, _ = run(capsys, "inspect", str(built), "--examples", "1")
    assert status == 0
    for words in ("500 products, fingerprint", "500 rows read, 500 kept", "CART", "difficulty 0 to", "Leaf categories"):
        assert words in out
    assert "\x1b" not in out


def test_a_source_is_inspected_for_machines(capsys: pytest.CaptureFixture[str], built: Path) -> None:
    """What a catalog holds is the same in a folder and in memory."""
    _, out, _ = run(capsys, "inspect", str(built), "--json")
    found = json.loads(out)
    assert found["content"]["products"] == 500
    assert found["rows"] == {"read": 500, "kept": 500, "dropped": {}}
    assert found["environments"].keys() == environments().keys()
    assert found["content"]["prices"]["edges_cents"][0] == 0
    _, out, _ = run(capsys, "inspect", "synthetic:40:1", "--json")
    assert json.loads(out)["environments"]["SUB"] == {
        "title": "Substitution",
        "max_difficulty": -1,
        "lacks": f"it needs {environments()['SUB'].about.needs}",
    }


def test_every_environment_says_what_it_needs() -> None:
    told = served(Shop.open("synthetic:40:0"))
    assert told.keys() == environments().keys()
    assert len(told) >= 8
    for each in told.values():
        assert (each.lacks is None) == (each.max_difficulty >= 0)


def test_a_folder_is_served(built: Path) -> None:
    import httpx

    with (
        local_server("--catalog", str(built)) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=None) as http,
    ):
        facts = http.get("/metadata").json()
        first = http.post("/reset", json={"env_id": "CART", "seed": 1})
    assert facts["catalog"]["size"] == 500
    assert first.status_code == 200


INTERRUPTED = """
import os, signal, sys
from ecom_rlve.cli import main

has_a_part = False

def watch(event, args):
    global has_a_part
    if has_a_part:
        has_a_part = False
        os.kill(os.getpid(), signal.SIGINT)
    has_a_part |= event == "os.rename" and "part-" in str(args[1])

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background starts without it
sys.addaudithook(watch)
main(sys.argv[1:])
"""
"""The command, which presses Ctrl-C at what it does next after it has kept its first part."""


def test_ctrl_c_leaves_what_can_be_gone_on_with(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["build", "--source", "synthetic:50:0", "--out", str(out)]
    command = [sys.executable, "-c", INTERRUPTED, "catalog", *words]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 130, done.stderr
    assert done.stderr == f"interrupted; {out}.building keeps what is done, the same command goes on with it\n"
    assert list(tmp_path.glob("out.building/parts/part-*"))
    status, _, err = run(capsys, "inspect", str(out))
    assert status == 1
    assert "is not finished" in err


def test_bars_are_drawn_only_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    from ecom_rlve.commands.progress import stage_bars

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for stream, is_drawn in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        with stage_bars() as tell:
            tell("reading", 0, 0)
            tell("reading", 7, 9)
        assert ("7/9" in stream.getvalue()) == is_drawn


_EXPORT = "Handle;Title;Type;Variant Price\nmug;Red Mug;Mugs;1250000\nlost;cut\ncup;Blue Cup;Cups;990000\n"


def test_an_export_asks_for_its_currency_and_lists_what_it_skips(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    export, out = tmp_path / "export.csv", tmp_path / "shop"
    export.write_text(_EXPORT)
    status, _, err = run(capsys, "build", "--source", str(export), "--out", str(out))
    assert status == 1
    assert f"{export}: no row states the currency of its price; say it, as in --currency EUR" in err
    status, told, _ = run(capsys, "build", "--source", str(export), "--out", str(out), "--currency", "vnd")
    assert status == 0
    assert f"skipped: {export}, line 3: 2 cells under a header of 4" in told
    status, told, _ = run(capsys, "inspect", str(out), "--json")
    found = json.loads(told)
    assert (found["content"]["currency"], found["rows"]["kept"]) == ("VND", 2)
    status, _, err = run(capsys, "inspect", str(export), "--currency", "VND", "--max-bad", "0")
    assert status == 1
    assert "1 of 3 rows cannot be read" in err


def test_a_table_is_read_by_the_mapping_that_is_proposed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table, mapping = tmp_path / "table.csv", tmp_path / "map.toml"
    table.write_text("Artikelnummer,Artikelname,Preis (EUR)\n1,Roter Becher,5.00\n2,Blauer Becher,6.00\n")
    status, _, err = run(capsys, "inspect", str(table))
    assert status == 1
    assert f"ecom-rlve catalog map '{table}' > map.toml" in err
    status, told, _ = run(capsys, "map", str(table))
    assert status == 0
    mapping.write_text(told)
    status, told, _ = run(capsys, "inspect", str(table), "--map", str(mapping), "--json")
    assert status == 0
    assert json.loads(told)["content"]["currency"] == "EUR"
