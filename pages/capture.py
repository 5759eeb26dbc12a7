"""Play the episodes that the pages show against a live server, and write what it answered into the pages.

rewrite("docs/curriculum.md", {**run_blocks(http), "gate": markdown(CurriculumParameters(), GATES)})
for page in PAGES:
    fill_outputs(page, url)
fill_outputs("docs/openenv.md", url, str(OPENENV))
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import httpx
import tutorials
from blocks import OUTPUT_OF_PYTHON, ROOT, Keep, rewrite, table, trimmed
from exchanges import END, LINE, OPENING, live, protocol_blocks, refusals, run_blocks, transcript
from played_episodes import Play, asking_play, first_play, tool_by_tool
from shown_episodes import environment_blocks

from ecom_rlve.envs.difficulty import axes_of
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.gate import GATES, markdown
from ecom_rlve.run_models import CurriculumParameters
from ecom_rlve.server.settings import Settings

SHOWN_URL = "http://127.0.0.1:8000"
PAGES = ("README.md", "docs/trainers.md")
OPENENV = ROOT / ".venv/openenv/bin/python"
CARDS = (3, {"product_id": None, "title": 48, "price": None})
"""All results on a page, so that a reader can see which of them is chosen."""
STEP: Keep = {
    "observation": {
        "turn": None,
        "user_message": None,
        "tool_results": (1, {"name": None, "result": {"results": CARDS, "total": None, "line": LINE}}),
    },
    "reward": None,
    "done": None,
}
FULL: Keep = {"results": CARDS, "total": None, "variants": (8, None), "line": LINE}
SHORT: Keep = {"results": (0, None), "total": None, "variants": (0, None), "line": {"line_id": None}}


def curl(path: str, body: Any) -> str:
    """Return the command that sends ``body`` and ends the answer's line."""
    return f"curl -sw '\\n' {SHOWN_URL.removeprefix('http://')}{path} -d '{json.dumps(body)}'"


def readme_episode(http: httpx.Client, play: Play) -> str:
    """Return the README's episode: the curl commands, then their answers, one a line."""
    bodies = [("/reset", {**play.reset, "episode_id": "first"}, OPENING)]
    bodies += [("/step", {"episode_id": "first", "action": action}, STEP) for action in play.actions]
    bodies[-1] = (*bodies[-1][:2], END)
    answers = [http.post(path, content=json.dumps(body)).raise_for_status().json() for path, body, _ in bodies]
    commands = "\n".join(curl(path, body) for path, body, _ in bodies)
    shown = "\n".join(trimmed(answer, keep) for answer, (_, _, keep) in zip(answers, bodies, strict=True))
    return f"```bash\n{commands}\n```\n\n```text\n{shown}\n```"


def readme_python(play: Play) -> str:
    """Return the same episode in Python; its output is filled in later."""
    search, add, _ = play.actions
    reset = ", ".join(f"{name}={value!r}" for name, value in play.reset.items() if name != "env_id")
    args = search["tool_calls"][0]["args"]
    code = f'''from ecom_rlve import EcomEnv

with EcomEnv("{SHOWN_URL}", env="cart") as env:
    result = env.reset({reset})
    search = {json.dumps(args)}
    result = env.step({{"tool_calls": [{{"name": "catalog_search", "args": search}}]}})
    add = {json.dumps(add["tool_calls"][0]["args"])}
    result = env.step({{"tool_calls": [{{"name": "cart_add", "args": add}}]}})
    print(result.observation.user_message)
    result = env.step({{"answer": {{"done": True}}}})
    print(result.reward, result.observation.result.is_correct)
'''
    return f"```python\n{code}```\n\n```text\n```"


def demo() -> str:
    """Return the beginning and the result of what ``make demo`` prints."""
    command = [sys.executable, "-P", "-m", "ecom_rlve.cli", "demo"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    first_turn = next(at for at, line in enumerate(lines) if re.match("─+ turn ", line))
    result = next(at for at, line in enumerate(lines) if line.strip() == "Result")
    shown = [*lines[:first_turn], "…", *lines[result:]]
    return "```text\n" + "\n".join(line.rstrip() for line in shown).strip() + "\n```"


def by_hand(play: Play, result: dict[str, Any]) -> str:
    """Return the sums for the reward of a correct episode; raises if the result is not what the server said."""
    t_max, units = axes_of(play.difficulty).t_max, sum(map(int, re.findall(r"×(\d+)", play.wanted)))
    turns, effective = result["turns"], result["effective_turns"]
    caused = turns - effective
    r_eff = 1 - 2 * (effective - 1) / (t_max - 1)
    total = 0.75 + 0.15 * r_eff
    assert (result["r_task"], result["r_eff"], result["r_hall"]) == (1.0, r_eff, 0.0)
    assert abs(result["r_total"] - total) < 1e-12
    rows = [
        ("wanted", play.wanted),
        ("in the cart", "the same"),
        ("`r_task`", f"F1 = 2·{units}/({units}+{units}) = 1, so 2·1 − 1 = **+1**"),
        ("turns", f"{turns}, {caused} of them customer-caused: `T_eff` = {turns} − {caused} = {effective}"),
        ("`r_eff`", f"1 − 2·({effective}−1)/({t_max}−1) = **{r_eff:+.4g}** (`T_max` = {t_max})"),
        ("`r_hall`", "every id in the cart was shown: **0**"),
        ("`r_total`", f"0.75·1 + 0.15·{r_eff:.4g} + 0.10·0 = **{total:+.4g}**"),
    ]
    return table(("", f"seed {play.seed}, difficulty {play.difficulty}, style `{play.style}`"), rows)


def cart_blocks(http: httpx.Client, play: Play) -> dict[str, str]:
    """Return the blocks of ``cart.md``."""
    as_tools = tool_by_tool(play)
    shown, result = transcript(http, play, keep=FULL)
    shown_as_tools, result_as_tools = transcript(http, as_tools, keep=SHORT)
    sums = f"{by_hand(play, result)}\n\n{by_hand(as_tools, result_as_tools)}"
    return {"transcript": shown, "tool transcript": shown_as_tools, "by hand": sums}


def fill_outputs(page: str, url: str, python: str = sys.executable) -> None:
    """Run the Python examples of a page in order and write what they print under them."""
    path = ROOT / page

    def printed(match: re.Match[str]) -> str:
        return f"```python\n{match['code']}```\n\n```text\n{run_example(match['code'], url, python)}```"

    path.write_text(OUTPUT_OF_PYTHON.sub(printed, path.read_text()))


def run_example(code: str, url: str, python: str) -> str:
    """Run a Python example in a process of its own against the server at ``url``; return what it printed."""
    command = [python, "-P", "-c", code.replace(SHOWN_URL, url)]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, cwd=Path(folder), check=True, capture_output=True, text=True, env=os.environ)
    return done.stdout


def main() -> None:
    """Fill every block."""
    shop = Shop.open(Settings().catalog)
    first, asking = first_play(shop), asking_play(shop)
    with live(shop) as url, httpx.Client(base_url=url) as http:
        blocks = {"episode": readme_episode(http, first), "python": readme_python(first), "demo": demo()}
        rewrite("README.md", blocks)
        rewrite("docs/cart.md", cart_blocks(http, asking))
        rewrite("docs/environments.md", environment_blocks(http, shop))
        rewrite("docs/protocol.md", {**protocol_blocks(url, http, first), **refusals(shop)})
        rewrite("docs/curriculum.md", {**run_blocks(http), "gate": markdown(CurriculumParameters(), GATES)})
        for page in PAGES:
            fill_outputs(page, url)
        fill_outputs("docs/openenv.md", url, str(OPENENV))
    with live(shop, reveal_goal=True) as url:
        tutorials.run(tutorials.pages(), url, is_check=False)
    with live(shop, disclose_acts=True) as url:
        fill_outputs("docs/agents.md", url)


if __name__ == "__main__":
    main()
