"""People play, watch and look around on the page, in a real browser."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow
Serving = Callable[..., AbstractContextManager[str]]
Solved = Callable[[str, int, int], list[dict[str, Any]]]


def calls_of(actions: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for action in actions:
        yield from ((call["name"], call["args"]) for call in action.get("tool_calls") or ())


def test_a_visitor_knows_where_to_begin(visit: Any, pictures: Path) -> None:
    page = visit.open()
    page.get_by_text("The customer speaks first").wait_for()
    visit.picture("first", pictures)
    begun = time.monotonic()
    page.click("#start")
    page.locator("#talk .bubble").wait_for()
    # The bound is 2 s on a machine of its own; one that runs other tests too may be five times as slow.
    assert time.monotonic() - begun < 10


def test_a_visitor_wins_a_cart(visit: Any, solved: Solved, pictures: Path) -> None:
    """Search, click the product into the cart, submit: the page tells the reward and the goal."""
    page = visit.open()
    visit.start("CART", 0, 3)
    for name, args in calls_of(solved("CART", 0, 3)):
        if name != "cart_add":
            visit.run(name, {"query": args["query"]} if name == "catalog_search" else args)
            continue
        card = page.locator("#talk .latest .card", has_text=args["product_id"])
        visit.picture("play", pictures)
        card.get_by_role("button", name="Add to cart").click()
        assert page.locator("#cart_add-product_id").input_value() == args["product_id"]
        visit.fill(name, args)
        moves = visit.moves()
        page.get_by_role("button", name="Run: Add to cart").click()
        visit.wait(moves + 1)
    assert page.locator("#side table").is_visible()
    told = visit.submit()
    assert "Correct: reward +0." in told
    assert "What the customer wanted" in told
    visit.picture("end", pictures, whole=True)
    with page.expect_download() as download:
        page.get_by_role("link", name="Trace").click()
    assert '"CART"' in Path(download.value.path()).read_text()


def test_a_visitor_recommends_products(visit: Any, solved: Solved, pictures: Path) -> None:
    page = visit.open()
    visit.start("PD", 1, 4)
    actions = solved("PD", 1, 4)
    wanted = actions[-1]["answer"]["recommended_product_ids"]
    for name, args in calls_of(actions):
        visit.run(name, args)
        for product_id in wanted:
            card = page.locator("#talk .latest .card", has_text=product_id)
            given = page.locator("#answer-recommended_product_ids").input_value()
            if card.count() and product_id not in given:
                card.first.get_by_role("button", name="Recommend").click()
    assert set(page.locator("#answer-recommended_product_ids").input_value().split()) == set(wanted)
    page.locator("#answer-recommended_product_ids").fill(" ".join(wanted))
    visit.picture("recommend", pictures)
    assert "Correct: reward +0." in visit.submit()


def test_a_visitor_exchanges_something(visit: Any, solved: Solved, pictures: Path) -> None:
    seed = next(s for s in range(60) if "return_exchange" in dict(calls_of(solved("RETURN", 2, s))))
    actions = solved("RETURN", 2, seed)
    page = visit.open()
    visit.start("RETURN", 2, seed)
    visit.run("order_list", {})
    exchanged = dict(calls_of(actions))["return_exchange"]
    order = page.locator("#talk .latest .order", has_text=exchanged["order_id"])
    order.locator("> .offers").get_by_role("button", name="Open order").click()
    page.get_by_role("button", name="Run: Open order").click()
    visit.wait(2)
    visit.picture("return", pictures)
    for name, args in calls_of(actions):
        visit.run(name, args)
    answer = {name: value for name, value in actions[-1]["answer"].items() if name != "done" and value}
    visit.fill("submit_answer", answer)
    assert "Correct: reward +0." in visit.submit()


def test_what_breaks_the_format_ends_the_episode(visit: Any) -> None:
    page = visit.open()
    visit.start("CART", 1, 5)
    page.get_by_text("Raw output, as a model writes it").click()
    page.locator("#raw").fill("I would rather <b>not</b> answer in JSON {{value}} ${1+1}.")
    page.get_by_role("button", name="Send raw").click()
    told = visit.ending()
    assert "Not correct: reward -1.00" in told
    assert "broke the format" in told
    assert "rather <b>not</b> answer in JSON {{value}} ${1+1}" in page.locator("#talk").inner_text()


def test_a_visitor_watches_the_expert(visit: Any, pictures: Path) -> None:
    """A journey plays by itself, can be paused, and stepped back and forth."""
    page = visit.open()
    page.get_by_role("tab", name="Watch").click()
    page.get_by_label("Environment").nth(1).click()
    page.get_by_role("option", name="JOURNEY:").click()
    page.get_by_label("Seed").nth(1).fill("7")
    page.click("#watch")
    page.wait_for_function("() => document.querySelectorAll('#film .move').length >= 2")
    page.locator("#pause", has_text="Pause").click()
    page.locator("#pause", has_text="Play").wait_for()
    # A step that was on its way still comes, and no further one.
    page.wait_for_timeout(4000)
    shown = page.locator("#film .move").count()
    page.wait_for_timeout(4000)
    assert page.locator("#film .move").count() == shown
    page.click("#back")
    page.wait_for_function("n => document.querySelectorAll('#film .move').length === n", arg=shown - 1)
    page.click("#forward")
    page.wait_for_function("n => document.querySelectorAll('#film .move').length === n", arg=shown)
    visit.picture("watch", pictures, whole=True)
    assert page.locator("#film-ending .ending").count() == 0
    page.locator("#pause").click()
    page.locator("#film-ending .ending").wait_for()
    assert "reward" in page.locator("#film-ending").inner_text()


def test_a_recorded_trace_is_watched_and_verified(visit: Any, tmp_path: Path) -> None:
    page = visit.open()
    visit.start("STATUS", 0, 1)
    visit.fill("submit_answer", {"selected_order_id": "O1", "order_status": "shipped"})
    visit.submit()
    with page.expect_download() as download:
        page.get_by_role("link", name="Trace").click()
    file = tmp_path / "played.jsonl"
    download.value.save_as(file)
    page.get_by_role("tab", name="Watch").click()
    page.get_by_label("Or open a recorded trace").set_input_files(file)
    page.get_by_text("the same to the byte").wait_for()
    page.locator("#film-ending .ending").wait_for()
    file.write_text("nonsense")
    page.get_by_label("Or open a recorded trace").set_input_files(file)
    page.get_by_text("this is no trace").wait_for()


def test_a_visitor_watches_a_model(visit: Any, model_url: str, pictures: Path) -> None:
    """It plays step by step, is stopped, and what is wrong with it is said in words; the key is seen nowhere."""
    page = visit.open()
    page.get_by_role("tab", name="Watch").click()
    assert not page.get_by_label("Address of the API").is_visible()
    page.get_by_label("Agent").click()
    page.get_by_role("option", name="a connected model").click()
    page.get_by_label("Address of the API").fill(model_url)
    page.get_by_label("Key, if it wants one").fill("sk-secret")

    def play(name: str) -> None:
        page.get_by_label("Model", exact=True).fill(name)
        page.click("#watch")

    play("good")
    page.locator("#film-ending .ending").wait_for()
    assert page.locator("#film .move").count() == 3
    page.get_by_text("good has played. 3 requests").wait_for()
    visit.picture("model", pictures)
    play("guarded")
    page.locator("#watched .problem", has_text="HTTP 401").wait_for()
    play("slow")
    page.get_by_text("slow is thinking").wait_for()
    page.wait_for_function("() => document.querySelectorAll('#film .move').length === 1")
    page.click("#stop")
    page.get_by_text("Stopped: the model is asked no more").wait_for()
    page.locator("#stop").wait_for(state="hidden")
    page.get_by_label("Address of the API").fill("http://169.254.169.254/v1")
    play("good")
    page.locator("#watched .problem", has_text="may not ask 169.254.169.254").wait_for()
    assert "sk-secret" not in page.locator("body").inner_text()


def test_dark_and_light(visit: Any, pictures: Path) -> None:
    page = visit.open()
    is_dark = "() => document.body.classList.contains('dark')"
    assert not page.evaluate(is_dark)
    visit.start("CART", 2, 9)
    visit.run("catalog_search", {"query": "chair"})
    page.get_by_role("button", name="Dark or light").click()
    assert page.evaluate(is_dark)
    visit.picture("dark", pictures)
    visit.open()
    assert page.evaluate(is_dark)
    # The episode goes on where the page is opened again.
    page.locator("#talk .card").first.wait_for()


def test_the_keyboard_is_enough(visit: Any) -> None:
    page = visit.open()

    def reach(selector: str) -> None:
        for _ in range(150):
            if page.evaluate("s => !!document.activeElement && document.activeElement.matches(s)", selector):
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"the Tab key does not reach {selector}")

    reach("#start")
    page.keyboard.press("Enter")
    page.locator("#talk .bubble").wait_for()
    reach('button.tool[data-tool="catalog_search"]')
    page.keyboard.press("Enter")
    reach("#catalog_search-query")
    page.keyboard.type("blender")
    page.keyboard.press("Enter")
    visit.wait(1)
    page.evaluate("() => document.activeElement.blur()")
    reach("#talk .offer")
    page.keyboard.press("Enter")
    # A click on a product leads to the form's button, so that Enter runs the call.
    page.keyboard.press("Enter")
    visit.wait(2)
    reach("#say")
    page.keyboard.type("Is that all right?")
    page.keyboard.press("Enter")
    visit.wait(3)
    reach('form[data-form="submit_answer"] button')
    page.keyboard.press("Enter")
    assert "reward" in visit.ending()


def test_a_phone(visit: Any, pictures: Path) -> None:
    """Nothing is wider than the screen, and an episode can be played."""
    visit.page.set_viewport_size({"width": 390, "height": 844})
    page = visit.open()
    visit.start("CART", 1, 3)
    visit.run("catalog_search", {"query": "lamp"})
    visit.picture("phone", pictures, at="#talk")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    small = page.evaluate(
        "() => [...document.querySelectorAll('.desk button, .offer')]"
        ".filter(each => each.offsetHeight && each.offsetHeight < 24).length"
    )
    assert small == 0
    visit.submit()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(visit: Any, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = visit.open()
    if scheme == "dark":
        page.get_by_role("button", name="Dark or light").click()
    visit.start("RETURN", 1, 2)
    visit.run("order_list", {})
    seen = {"play": _serious(Axe(), page)}
    visit.fill("submit_answer", {"selected_order_id": "O1", "selected_line_id": "L1", "resolution": "returned"})
    visit.submit()
    seen["end"] = _serious(Axe(), page)
    for tab in ("Watch", "Curriculum", "Catalog", "Report"):
        page.get_by_role("tab", name=tab).click()
        if tab == "Watch":
            page.click("#watch")
            page.locator("#film .move").first.wait_for()
        if tab == "Catalog":
            page.locator("#query").get_by_role("textbox").fill("black chair")
            page.click("#find")
            page.locator("#found .card").first.wait_for()
        seen[tab] = _serious(Axe(), page)
    assert seen == {key: [] for key in seen}


def _serious(axe: Any, page: Any) -> list[str]:
    found = axe.run(page).response["violations"]
    return [
        f"{each['id']}: {node['html'][:200]}: {node.get('failureSummary', '')[:300]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


def test_the_catalog_says_why(visit: Any, pictures: Path) -> None:
    page = visit.open()
    page.get_by_role("tab", name="Catalog").click()
    page.locator("#query").get_by_role("textbox").fill("black chair")
    page.locator("#query").get_by_role("textbox").press("Enter")
    page.locator("#found .card").first.wait_for()
    assert page.locator("#found .card mark").first.inner_text() in ("black", "chair")
    visit.picture("catalog", pictures)
    page.get_by_label("Price to").fill("cheap")
    page.click("#find")
    page.locator("#found .problem", has_text="price: a number").wait_for()
    page.get_by_label("Price to").fill("$100")
    page.click("#find")
    page.locator("#found .card").first.wait_for()


def test_the_curriculum_is_shown(visit: Any, pictures: Path) -> None:
    import httpx

    page = visit.open()
    for env_id in ("CART", "PD", "RETURN"):
        answer = httpx.post(f"{visit.url}/reset", json={"env_id": env_id, "run_id": "learner"})
        assert answer.json()["metadata"]["counts"]
    page.get_by_role("tab", name="Curriculum").click()
    page.locator(".frontier", has_text="CART").wait_for()
    assert page.locator(".panel", has_text="learner").locator(".frontier b").count() == 3
    visit.picture("curriculum", pictures)


def test_a_report_cannot_reach_out(visit: Any, tmp_path: Path) -> None:
    """Anybody's file is shown without a way to the page's data or to the network."""
    report = tmp_path / "report.html"
    report.write_text(
        "<!doctype html><html><body><h1>Results</h1><p id='p'>waiting</p><script>"
        "try { parent.document.title = 'taken'; } catch (e) { document.getElementById('p').textContent = 'kept out'; }"
        "</script></body></html>"
    )
    page = visit.open()
    page.get_by_role("tab", name="Report").click()
    page.get_by_label("Open a report").set_input_files(report)
    page.frame_locator("iframe.report").get_by_text("kept out").wait_for()
    assert page.title() == "EcomRLVE-GYM"


def test_a_real_report_is_shown(visit: Any, tmp_path: Path, pictures: Path) -> None:
    """One of two agents, played on this very server, loads nothing and breaks nothing in its frame."""
    command = [sys.executable, "-m", "ecom_rlve.cli"]
    plan = ["--url", visit.url, "--env", "CART,STATUS,POLICY", "--difficulty", "0-5", "--episodes", "1"]
    for agent in ("oracle", "answer_constants"):
        subprocess.run([*command, "eval", "--agent", agent, *plan, "--out", tmp_path / agent], check=True)
    file = tmp_path / "report.html"
    subprocess.run([*command, "report", tmp_path / "oracle", tmp_path / "answer_constants", "--out", file], check=True)
    page = visit.open()
    page.get_by_role("tab", name="Report").click()
    page.get_by_label("Open a report").set_input_files(file)
    frame = page.frame_locator("iframe.report")
    frame.get_by_role("heading").first.wait_for()
    assert "oracle" in frame.locator("body").inner_text()
    visit.picture("report", pictures)


def test_the_api_page_loads_nothing_from_elsewhere(visit: Any) -> None:
    page = visit.page
    page.goto(f"{visit.url}/docs")
    page.get_by_text("Start an episode").first.wait_for()


def test_behind_a_path_prefix(visit: Any, serving: Serving) -> None:
    """Where everything comes below a path, the page needs no setting."""
    with serving(0, "/spaces/shop") as url:
        visit.url = url
        visit.open("/spaces/shop/web")
        visit.start("CART", 1, 5)
        visit.run("catalog_search", {"query": "chair"})
        _is_told_that_no_model_may_be_named(visit.page)
        visit.page.get_by_role("link", name="API").click()
        visit.page.get_by_text("Start an episode").first.wait_for()


def _is_told_that_no_model_may_be_named(page: Any) -> None:
    page.get_by_role("tab", name="Watch").click()
    page.get_by_label("Agent").click()
    page.get_by_role("option", name="a connected model").click()
    page.locator(".model", has_text="This server asks no model that visitors name").first.wait_for()
    assert not page.get_by_label("Address of the API").is_visible()
    page.click("#watch")
    page.locator("#watched .problem", has_text="ECOM_RLVE_AGENT_ORIGINS").wait_for()


def test_a_server_that_is_restarted(visit: Any, serving: Serving) -> None:
    """The page says that the episode is gone, and another can be played."""
    with serving() as url:
        visit.url = url
        page = visit.open()
        visit.start("CART", 1, 5)
    visit.forgiven = True
    with serving(int(url.rpartition(":")[2])):
        # Gradio's page may have begun itself anew meanwhile, or not.
        if page.locator("#say").is_visible():
            page.locator("#say").fill("Hello?")
            page.locator("#say").press("Enter")
        page.locator("#notice", has_text="This episode is gone").wait_for()
        visit.start("CART", 1, 6)
        visit.run("catalog_search", {"query": "chair"})
