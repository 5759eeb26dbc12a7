"""What customers say in many episodes of all environments, and chat endpoints in this process to word it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from inspect import isawaitable
from types import SimpleNamespace
from typing import Any, NamedTuple

import httpx
import pytest

from ecom_rlve.envs.customer.check.sheet import Sheet
from ecom_rlve.envs.customer.model.breaker import Breaker
from ecom_rlve.envs.customer.model.endpoint import Endpoint, EndpointSettings
from ecom_rlve.envs.customer.model.prompts import sheet_for
from ecom_rlve.envs.customer.voice import Utterance
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.phrases import LABELS
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.streams import stream

DIFFICULTIES = (0, 3, 6, 9, 12, 16, 19)
SAYINGS = (
    "Which {label} would you like for the {noun}?",
    "Which {kind}?",
    "Which {kind} and which {label} for the {noun}?",
    "What is the {kind}, please?",
    "How many do you need? And what is your budget?",
    "What brand, what size, what colour and what material do you want?",
    "Anything else I should know?",
    "What else do you need?",
    "The {noun} is sold out. What should I take instead?",
    "I have done everything. Is everything right?",
    "Is the {noun} in stock, and what is its product id?",
    "I am still looking.",
)


class Said(NamedTuple):
    """One utterance in its episode, with what else the customer could say then."""

    utterance: Utterance
    sheet: Sheet
    unsaid: tuple[Slot, ...]
    ids: tuple[str, ...]
    """Ids that an act never holds: of a product, of an order and of a line where there are orders."""


def _said(episode: Episode) -> Iterator[Said]:
    intent = episode.intent
    parts = list(episode.scenario.intents)
    orders = intent.world.__dict__.get("orders", ())[:1]
    order_ids = (name for each in orders for name in (each.order_id, each.lines[0].line_id))
    ids = (intent.world.shop.catalog.ids[0], *order_ids)
    for utterance in episode.utterances:
        assert callable(utterance.check), "built before the episode moves on"
        told = [fact for act in utterance.acts for mention in act.mentions for fact in mention.facts]
        unsaid = tuple(slot for part in parts for slot in part.slots if slot.fact not in told)
        yield Said(utterance, sheet_for(utterance), unsaid, ids)


def _talk(episode: Episode, seed: int) -> Iterator[Said]:
    rng = stream(seed, "talk")

    def some(options: Sequence[Any]) -> Any:
        return options[int(rng.integers(len(options)))]

    yield from _said(episode)
    labels = sorted(set(LABELS.values()))
    while not episode.done:
        intent = episode.intent
        world = intent.world
        kinds = [slot.fact.kind.label for slot in intent.slots if slot.fact.kind] or labels
        words = {"label": some(labels), "kind": some(kinds), "noun": some(intent.subjects).singular}
        action: dict[str, Any] = {"assistant_message": some(SAYINGS).format(**words)}
        if rng.random() < 0.35:
            action = dict(episode.solve())
        elif "cart_add" in episode.environment.about.tool_names and world.shown and rng.random() < 0.5:
            row = some(list(world.shown))
            args = {"product_id": world.shop.catalog.ids[row], "quantity": int(rng.integers(1, 5))}
            action["tool_calls"] = [{"name": "cart_add", "args": args | {"variant_id": some(world.variants(row)).id}}]
        episode.step(action)
        yield from _said(episode)


def said_in(shop: Shop, seeds: Sequence[int], env_ids: Sequence[str] = (), **axes: float) -> Iterator[Said]:
    """Yield what customers say in episodes with these seeds, at seven difficulties of each environment."""
    for env_id in env_ids or environments():
        for difficulty in DIFFICULTIES:
            for seed in seeds:
                spec = EpisodeSpec(env_id, difficulty, seed, axes=tuple({"p_noise": 0.0, **axes}.items()))
                yield from _talk(Episode(shop, spec, "episode"), seed)


@pytest.fixture(scope="session")
def talks() -> Callable[..., Iterator[Said]]:
    """Return :func:`said_in`."""
    return said_in


@pytest.fixture(scope="session")
def sayings(big_shop: Shop) -> list[Said]:
    """Return more than two thousand utterances of all environments, without noise."""
    return list(said_in(big_shop, range(100, 106)))


class Raw(NamedTuple):
    """An answer as it goes over the wire."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"


def completion(content: Any, **choice: Any) -> Raw:
    """Return a chat completion that says ``content``; ``role`` and ``finish_reason`` may be given."""
    message = {"role": choice.pop("role", "assistant"), "content": content}
    payload = {"choices": [{"message": message, "finish_reason": "stop", **choice}], "usage": {"total_tokens": 7}}
    return Raw(body=json.dumps(payload).encode())


class ChatApp:
    """A chat endpoint in this process, reached by real HTTP messages: answers what it is told to."""

    def __init__(self, answer: Callable[[dict[str, Any]], Any], models: Sequence[str] | Raw = ("model",)) -> None:
        """``answer`` takes a request's body and returns a text, a :class:`Raw`, or an awaitable of either."""
        self.answer = answer
        self.models = models
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.keys.append(headers.get("authorization", ""))
        raw = b""
        while (message := await receive()).get("more_body") or message.get("body"):
            raw += message["body"]
            if not message.get("more_body"):
                break
        if scope["path"].endswith("/models"):
            listed = {"data": [{"id": name} for name in self.models]} if not isinstance(self.models, Raw) else None
            answer: Any = self.models if listed is None else Raw(body=json.dumps(listed).encode())
        else:
            self.requests.append(json.loads(raw))
            answer = self.answer(self.requests[-1])
            answer = await answer if isawaitable(answer) else answer
            answer = completion(answer) if isinstance(answer, str) else answer
        head = [(b"content-type", answer.content_type.encode())]
        await send({"type": "http.response.start", "status": answer.status, "headers": head})
        await send({"type": "http.response.body", "body": answer.body})


@pytest.fixture(scope="session")
def chat() -> SimpleNamespace:
    """Return what makes endpoints in this process: ``chat.app``, ``chat.raw``, ``chat.says``, ``chat.endpoint``."""

    def endpoint(app: ChatApp, breaker: Breaker | None = None, **settings: Any) -> Endpoint:
        chosen = {"base_url": "http://model/v1", "model": "model", "longest_wait_s": 0.01, **settings}
        return Endpoint(EndpointSettings(**chosen), breaker, transport=httpx.ASGITransport(app=app))

    return SimpleNamespace(app=ChatApp, raw=Raw, says=completion, endpoint=endpoint)
