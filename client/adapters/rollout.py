"""A generate function in the form that slime and Miles take: tokens, loss mask, log-probabilities and reward.

A file of one's own names it for them, with the address of the server::

    from ecom_rlve.client.adapters.rollout import make_generate

    generate = make_generate("http://127.0.0.1:8000")

``--custom-generate-function-path my_file.generate``. The policy is their SGLang router, asked for tokens. Its own
tokens are trained on (loss mask 1), what the store and the customer say is not (0). Its output goes to the server as it
is, which reads the ``<tool_call>`` blocks of Hermes and Qwen; rows of other models name ``"format": "lenient"``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache
from math import inf
from typing import Any

import httpx
from transformers import AutoTokenizer

from ecom_rlve.client.adapters.openai_tools import UNSCORED
from ecom_rlve.client.client import DEFAULT_URL, AsyncEcomEnv
from ecom_rlve.client.protocol import StepResult
from ecom_rlve.client.tool_chat import ChatMessage, ToolChat, replies, reset_arguments

Generate = Callable[[Any, Any, dict[str, Any]], Awaitable[Any]]
_MARK = "\N{REPLACEMENT CHARACTER}the policy's words\N{REPLACEMENT CHARACTER}"


def make_generate(url: str = DEFAULT_URL, *, token: str | None = None, retry_for: float = 60) -> Generate:
    """Return ``async generate(args, sample, sampling_params) -> sample``, which plays on the server at ``url``.

    The arguments are those of the client.

    A sample's ``metadata`` holds the arguments of the reset. Where it names neither ``seed`` nor ``group_id``, the
    samples of one prompt and pass are a group. A rollout that runs out of tokens is finished and has a score; one whose
    server failed, or whose generation was aborted, is ABORTED and has none, nor any tokens.
    """

    async def generate(args: Any, sample: Any, sampling_params: dict[str, Any]) -> Any:
        env = AsyncEcomEnv(url, token=token, retry_for=retry_for)
        async with httpx.AsyncClient(timeout=None) as http, env:
            rollout = _Rollout(args, sample, sampling_params, http)
            try:
                await rollout.play(env)
            except UNSCORED as failure:
                rollout.abort(str(failure))
        return sample

    return generate


class _Rollout:
    """One sample while it is generated."""

    def __init__(self, args: Any, sample: Any, sampling_params: dict[str, Any], http: httpx.AsyncClient) -> None:
        self._sample = sample
        self._http = http
        self._address = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
        self._sampling = sampling_params
        self._most_new = sampling_params.get("max_new_tokens", args.rollout_max_response_len)
        self._most_tokens = getattr(args, "rollout_max_context_len", None)
        self._tokenizer = _tokenizer(args.hf_checkpoint)

    async def play(self, env: AsyncEcomEnv) -> None:
        """Play the episode into the sample."""
        status = type(self._sample).Status
        chat = ToolChat(await env.reset(**self._reset_arguments()))
        self._begin(self._rendered(chat.messages, tools=chat.tools))
        while (left := self._left()) > 0:
            ids, reason = await self._sampled(int(min(self._most_new, left)))
            if reason == "abort":
                self.abort("the generation was aborted")
                return
            if reason == "length":
                break
            result = await env.step(self._tokenizer.decode(ids, skip_special_tokens=False))
            if result.done:
                self._end(result, status.COMPLETED)
                return
            told = self._told(result, ids)
            if len(told) >= self._left():
                break
            self._add(told, [0.0] * len(told), trained=False)
        self._end(await env.finish(), status.TRUNCATED)

    def abort(self, why: str) -> None:
        """Leave the sample without tokens and without a reward."""
        sample = self._sample
        sample.tokens, sample.response, sample.response_length = [], "", 0
        sample.loss_mask, sample.rollout_log_probs, sample.reward = None, None, None
        sample.status = type(sample).Status.ABORTED
        sample.metadata["failure"] = why

    def _reset_arguments(self) -> dict[str, Any]:
        sample = self._sample
        arguments = reset_arguments(sample.metadata)
        if sample.group_index is not None and not {"seed", "group_id"} & arguments.keys():
            # Unique in the run: both libraries count it on from pass to pass.
            arguments["group_id"] = f"rollout-{sample.group_index}"
        return arguments

    def _begin(self, prompt: str) -> None:
        sample = self._sample
        sample.tokens = self._tokenizer.encode(prompt, add_special_tokens=False)
        sample.response, sample.response_length = "", 0
        sample.loss_mask, sample.rollout_log_probs = [], []

    def _left(self) -> float:
        """Return how many tokens the context still holds."""
        return inf if self._most_tokens is None else self._most_tokens - len(self._sample.tokens)

    async def _sampled(self, room: int) -> tuple[list[int], str]:
        """Return the policy's next tokens and why they end; raises ``httpx.HTTPError`` if the router fails."""
        sampling = {**self._sampling, "max_new_tokens": room}
        body = {"input_ids": self._sample.tokens, "sampling_params": sampling, "return_logprob": True}
        answer = (await self._http.post(self._address, json=body)).raise_for_status().json()["meta_info"]
        sampled = answer.get("output_token_logprobs") or []
        ids = [each[1] for each in sampled]
        self._add(ids, [each[0] for each in sampled], trained=True)
        return ids, answer["finish_reason"]["type"]

    def _add(self, ids: Sequence[int], log_probs: Sequence[float], *, trained: bool) -> None:
        sample = self._sample
        sample.tokens = [*sample.tokens, *ids]
        sample.response += self._tokenizer.decode(ids, skip_special_tokens=False)
        sample.response_length += len(ids)
        sample.loss_mask += [int(trained)] * len(ids)
        sample.rollout_log_probs += log_probs

    def _end(self, result: StepResult, status: Any) -> None:
        ended = result.observation.result
        self._sample.reward, self._sample.status = result.reward, status
        if ended is not None:
            self._sample.metadata["is_correct"] = ended.is_correct

    def _told(self, result: StepResult, sampled: Sequence[int]) -> list[int]:
        """Return the tokens between the policy's last one and its next turn, as the chat template writes them."""
        calls = [
            {"id": f"call_{at}", "function": {"name": each.name}}
            for at, each in enumerate(result.observation.tool_results)
        ]
        named = zip(replies(calls, result), [*result.observation.tool_results, None], strict=False)
        messages = [{**message, **({"name": each.name} if each else {})} for message, each in named]
        # What the policy said stands in its own tokens already; only what follows it is wanted.
        before = [{"role": "user", "content": "?"}, {"role": "assistant", "content": _MARK}]
        text = self._rendered([*before, *messages]).rpartition(_MARK)[2]
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False)
        # The token with which the policy ended its turn is the template's first one.
        return ids[1:] if ids and sampled and ids[0] == sampled[-1] else ids

    def _rendered(self, messages: Sequence[ChatMessage], **options: Any) -> str:
        text: str = self._tokenizer.apply_chat_template(
            list(messages), tokenize=False, add_generation_prompt=True, **options
        )
        return text


@lru_cache(maxsize=4)
def _tokenizer(checkpoint: str) -> Any:
    return AutoTokenizer.from_pretrained(checkpoint)
