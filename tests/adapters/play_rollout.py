"""Generate samples of Miles' real classes; run by test_libraries.py in an environment that holds them.

python tests/adapters/play_rollout.py SERVER EPISODES

``EPISODES`` is a JSON list: a reset's arguments each, the customer's first words, a policy's outputs, and the reward
that they get. Tokenizer and router are made here: one trained on the README, and one that says the outputs.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import threading
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
from miles.rollout.base_types import GenerateFnInput
from miles.rollout.inference_rollout.compatibility import LegacyGenerateFnAdapter
from miles.utils.types import Sample
from tokenizers import ByteLevelBPETokenizer
from transformers import PreTrainedTokenizerFast

from ecom_rlve.client.adapters.rollout import make_generate

END = "<|im_end|>"
TEMPLATE = """
{%- if tools %}{{ '<|im_start|>system\\n' + messages[0].content + '\\n' }}
{%- for tool in tools %}{{ tool | tojson }}\n{% endfor %}{{ '<|im_end|>\\n' }}{% endif %}
{%- for message in messages %}{% if not (tools and loop.first) %}
{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""


def saved_tokenizer(folder: str) -> PreTrainedTokenizerFast:
    """Make a tokenizer with a chat template that takes tools, and save it."""
    made = ByteLevelBPETokenizer()
    readme = str(Path(__file__).parents[2] / "README.md")
    made.train([readme], vocab_size=2000, special_tokens=["<|im_start|>", END], show_progress=False)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=made._tokenizer, eos_token=END, chat_template=TEMPLATE)
    tokenizer.save_pretrained(folder)
    return tokenizer


@contextmanager
def router(tokenizer: PreTrainedTokenizerFast, episodes: Sequence[dict[str, Any]], reason: str) -> Iterator[int]:
    """Serve SGLang's ``/generate`` with the outputs of the episode whose customer the prompt quotes; yield its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prompt = tokenizer.decode(asked["input_ids"], skip_special_tokens=False)
            (episode,) = [each for each in episodes if each["customer"] in prompt]
            output = episode["outputs"][prompt.count("<|im_start|>assistant") - 1]
            ids = tokenizer.encode(output, add_special_tokens=False)
            fits = ids[: asked["sampling_params"]["max_new_tokens"]]
            meta = {
                "finish_reason": {"type": reason if len(fits) == len(ids) else "length"},
                "output_token_logprobs": [[-0.5, token, None] for token in fits],
            }
            body = json.dumps({"text": "", "meta_info": meta}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


class Trainer:
    """Generates samples as Miles does."""

    def __init__(self, server: str, folder: str, episodes: list[dict[str, Any]]) -> None:
        self.tokenizer = saved_tokenizer(folder)
        self._folder = folder
        self._episodes = episodes
        self._generate = LegacyGenerateFnAdapter(make_generate(server))

    def samples(
        self,
        rows: Sequence[dict[str, Any]],
        *,
        reason: str = "stop",
        new: int = 4096,
        context: Any = None,
        groups: Sequence[int] = (),
    ) -> Any:
        """Return the finished samples of some rows."""

        async def all_of(port: int) -> list[Sample]:
            args = Namespace(
                hf_checkpoint=self._folder, sglang_router_ip="127.0.0.1", sglang_router_port=port,
                rollout_max_response_len=new, rollout_max_context_len=context,
            )  # fmt: skip
            asked = [
                GenerateFnInput(
                    state=Namespace(args=args),
                    sample=Sample(group_index=at, metadata=dict(row)),
                    sampling_params={"max_new_tokens": new},
                    evaluation=False,
                )
                for at, row in zip(groups or range(len(rows)), rows, strict=True)
            ]
            return [each.samples for each in await asyncio.gather(*map(self._generate, asked))]

        with router(self.tokenizer, self._episodes, reason) as port:
            return asyncio.run(all_of(port))


def check_won(trainer: Trainer, episodes: Sequence[dict[str, Any]]) -> None:
    """Require the reward, and that exactly the policy's own tokens are trained on."""
    assert len(episodes) == 8
    for sample, episode in zip(trainer.samples([each["row"] for each in episodes]), episodes, strict=True):
        sample.validate()
        assert (sample.status, sample.reward) == (Sample.Status.COMPLETED, episode["reward"]), episode["row"]
        assert sample.metadata["is_correct"] is True
        response = sample.tokens[-sample.response_length :]
        assert sample.response == trainer.tokenizer.decode(response, skip_special_tokens=False)
        own = [token for token, trained in zip(response, sample.loss_mask, strict=True) if trained]
        assert trainer.tokenizer.decode(own, skip_special_tokens=False) == "".join(episode["outputs"])
        assert sample.response.count("<|im_start|>assistant") == len(episode["outputs"]) - 1
        # Where an output ends, the template goes on as it does after any message.
        assert f"{END}<|im_start|>" not in sample.response
        assert f"{END}{END}" not in sample.response
        log_probs = set(zip(sample.loss_mask, sample.rollout_log_probs, strict=True))
        assert log_probs <= {(1, -0.5), (0, 0.0)}
    print(f"  {len(episodes)} episodes won")


def check_cut(trainer: Trainer, row: dict[str, Any]) -> None:
    """Require a score of rollouts that run out of tokens, in a turn and between two."""
    (whole,) = trainer.samples([row])
    prompt = len(whole.tokens) - whole.response_length
    turn = whole.loss_mask.index(0)
    for limits in ({"new": 4}, {"context": prompt + turn + 1}, {"context": prompt}):
        (cut,) = trainer.samples([row], **limits)
        cut.validate()
        assert (cut.status, cut.metadata["is_correct"]) == (Sample.Status.TRUNCATED, False)
        assert -1 < cut.reward < 0, cut.reward
        assert set(cut.loss_mask) <= {1}
        print(f"  cut by {limits}: {cut.reward:+.2f}")


def check_aborted(trainer: Trainer, server: str, row: dict[str, Any]) -> None:
    """Require that nothing is left of a rollout which the trainer aborted or the server lost."""

    def delete_all() -> None:
        while not stopped.wait(0.001):
            httpx.delete(f"{server}/episodes", params={"run_id": "lost"}).raise_for_status()

    aborted = trainer.samples([row], reason="abort")
    stopped = threading.Event()
    deleting = threading.Thread(target=delete_all)
    deleting.start()
    lost = trainer.samples([{**row, "run_id": "lost"}])
    stopped.set()
    deleting.join()
    assert len(aborted + lost) == 2
    for sample in aborted + lost:
        sample.validate()
        assert (sample.status, sample.reward, sample.tokens) == (Sample.Status.ABORTED, None, [])
        print(f"  aborted: {sample.metadata['failure'][:60]}")


def check_group(trainer: Trainer) -> None:
    """Require that the samples of one prompt and pass play the same episode, and those of the next pass another."""
    row = {"env_id": "CART", "run_id": "groups of rollouts"}
    # No token may be sampled, so what is compared is the prompt.
    first, other, later = (sample.tokens for sample in trainer.samples([row] * 3, context=1, groups=[7, 7, 8]))
    assert first == other
    assert first != later
    print("  groups are whole")


def main(server: str, episodes: list[dict[str, Any]]) -> None:
    """Check samples that are won, cut and aborted."""
    assert episodes, "no episodes"
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(server, folder, episodes)
        check_won(trainer, episodes)
        check_cut(trainer, episodes[0]["row"])
        check_aborted(trainer, server, episodes[0]["row"])
        check_group(trainer)


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
