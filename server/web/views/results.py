"""Tool results as product cards, tables and short texts, with buttons into the next call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ecom_rlve.models import ToolResult
from ecom_rlve.server.web.views.html import el, together
from ecom_rlve.server.web.views.naming import in_words, shown, tool_name
from ecom_rlve.server.web.views.offers import Offers, is_id

_HEAD = ("product_id", "title", "brand", "category", "price", "price_from", "rating", "rating_count", "ship_days")
_AFTER = ("in_stock", "currency", "more", "features", "description")
_MOST_COLUMNS = 7


def show_result(result: ToolResult, offers: Offers) -> Markup:
    """Return one tool result."""
    if result.error is not None:
        why = el("p", el("strong", f"{tool_name(result.name)} refused"), f": {result.error} ", el("code", result.code))
        return el("div", why, class_="result refused")
    fields = result.result or {}
    context = {name: value for name, value in fields.items() if is_id(name) and isinstance(value, str)}
    parts = [_field(name, value, offers, context) for name, value in fields.items()]
    rest = [part for part in parts if part is not None]
    if not rest:
        rest = [el("p", "Nothing found.", class_="dim")]
    return el("div", el("h4", tool_name(result.name)), together(rest), class_="result")


def card(product: Mapping[str, Any], offers: Offers, note: object = None) -> Markup:
    """Return a product's card; ``note`` stands below its facts."""
    facts = [_price(product), _rating(product), _shipping(product)]
    line = el("p", together(el("span", fact) for fact in facts if fact), class_="facts")
    kind = " · ".join(str(product[name]) for name in ("brand", "category") if product.get(name))
    others = {k: v for k, v in product.items() if k not in _HEAD and k not in _AFTER and not isinstance(v, list | dict)}
    chips = [el("span", f"{in_words(k).lower()} ", el("b", shown(v, k)), class_="chip") for k, v in others.items()]
    more = product.get("more")
    return el(
        "article",
        el("h5", str(product.get("title", product.get("product_id", "?")))),
        el("p", kind, " ", el("code", str(product.get("product_id", ""))), class_="dim"),
        line,
        el("p", together(chips), el("span", f"{more} more", class_="chip") if more else None, class_="chips"),
        _long(product),
        note,
        offers.buttons(product),
        class_="card",
    )


def table(rows: Sequence[Mapping[str, Any]], offers: Offers, context: Mapping[str, Any], caption: str) -> Markup:
    """Return rows as a table with the buttons of each row."""
    names = list(dict.fromkeys(name for row in rows for name in row))[:_MOST_COLUMNS]
    buttons = [offers.buttons(row, context) for row in rows]
    has_buttons = any(each is not None for each in buttons)
    head = [el("th", in_words(name), scope="col") for name in names]
    if has_buttons:
        head.append(el("th", el("span", "Actions", class_="unseen"), scope="col"))
    body = []
    for row, offered in zip(rows, buttons, strict=True):
        cells = [el("td", _cell(name, row.get(name)), class_="wide" if name == "title" else None) for name in names]
        body.append(el("tr", together(cells), el("td", offered) if has_buttons else None))
    grid = el("table", el("thead", el("tr", together(head))), el("tbody", together(body)))
    return el("div", grid, class_="scrolls", tabindex="0", role="region", aria_label=caption)


def _field(name: str, value: Any, offers: Offers, context: Mapping[str, Any]) -> Markup | None:
    if name == "facets" or value is None:
        return None
    if isinstance(value, dict):
        if "product_id" in value and "line_id" not in value:
            return card(value, offers)
        return table([value], offers, context, in_words(name)) if value else None
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        return _rows(name, value, offers, context)
    if isinstance(value, list) and not value:
        return el("p", f"No {in_words(name).lower()}.", class_="dim")
    if name == "text":
        return el("p", str(value), class_="prose")
    text = shown(value, name)
    return el("p", el("span", f"{in_words(name)}: ", class_="dim"), el("code", text) if is_id(name) else text)


def _rows(name: str, rows: list[dict[str, Any]], offers: Offers, context: Mapping[str, Any]) -> Markup:
    if all("product_id" in row and not ({"line_id", "variant_id"} & row.keys()) for row in rows):
        return el("div", together(card(row, offers) for row in rows), class_="cards")
    if all("line_ids" in row for row in rows):
        return el("div", together(_order(row, offers) for row in rows), class_="orders")
    return table(rows, offers, context, in_words(name))


def _order(order: Mapping[str, Any], offers: Offers) -> Markup:
    """Return an order of the list with its lines, whose fields are lists of equal length."""
    order_id = {"order_id": order["order_id"]}
    lists = zip(order["line_ids"], order.get("titles", ()), order.get("categories", ()), strict=False)
    lines = [order_line(line, (title, category), offers, order_id) for line, title, category in lists]
    head = el(
        "p",
        el("b", order.get("date", "")),
        f" · {shown(order.get('total'), 'total', order.get('currency'))} ",
        el("code", order["order_id"]),
    )
    return el("div", head, offers.buttons(order_id), el("ul", together(lines)), class_="order")


def order_line(line_id: str, told: tuple[str, str], offers: Offers, order_id: Mapping[str, Any]) -> Markup:
    """Return one line of an order: its title and one thing more, its id, and what can be done with it."""
    title, further = told
    about = el("span", title, " ", el("span", further, " ", el("code", line_id), class_="dim"))
    return el("li", about, offers.buttons({"line_id": line_id}, order_id))


def _cell(name: str, value: Any) -> object:
    return el("code", shown(value)) if is_id(name) else shown(value, name)


def _long(product: Mapping[str, Any]) -> Markup | None:
    features, description = product.get("features") or (), product.get("description")
    if not features and not description:
        return None
    points = el("ul", together(el("li", str(each)) for each in features)) if features else None
    return together([points, el("p", str(description), class_="prose") if description else None])


def _price(product: Mapping[str, Any]) -> Markup | None:
    if product.get("price") is not None:
        return el("b", shown(product["price"], "price", product.get("currency")))
    least = product.get("price_from")
    told = shown(least, "price", product.get("currency"))
    return el("span", f"from {told}" if least is not None else "price unknown")


def _rating(product: Mapping[str, Any]) -> str:
    rating = product.get("rating")
    return "" if rating is None else f"★ {rating:g} of 5"


def _shipping(product: Mapping[str, Any]) -> Markup | None:
    days = product.get("ship_days")
    words = [f"ships in {days} day{'s' if days != 1 else ''}"] if days is not None else []
    is_gone = product.get("in_stock") is False
    if "in_stock" in product:
        words.append("sold out" if is_gone else "in stock")
    return el("span", ", ".join(words), class_="gone" if is_gone else None) if words else None
