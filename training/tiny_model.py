"""A model and a tokenizer for the dry run, made on the spot: nothing is downloaded, and nothing is known to them."""

from __future__ import annotations

from collections.abc import Iterable

from tokenizers import AddedToken, Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM, set_seed
from trl.chat_template_utils import qwen3_chat_template

_VOCABULARY = 2000
_CONTEXT = 32_768
_PAD, _END = "<|endoftext|>", "<|im_end|>"
_CONTROL = (_PAD, "<|im_start|>", _END)
_TEXT_MARKS = ("<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>")
"""One token each, as in Qwen3, but text: they stay when control tokens are skipped."""


def tiny_tokenizer(texts: Iterable[str]) -> PreTrainedTokenizerFast:
    """Return a byte-level BPE trained on ``texts``, with Qwen3's chat template, which shows tools and reads calls."""
    bpe = Tokenizer(BPE())
    bpe.pre_tokenizer = ByteLevel(add_prefix_space=False)
    bpe.decoder = ByteLevelDecoder()
    trainer = BpeTrainer(
        vocab_size=_VOCABULARY,
        special_tokens=list(_CONTROL),
        initial_alphabet=ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(texts, trainer)
    bpe.add_tokens([AddedToken(mark, special=False, normalized=False) for mark in _TEXT_MARKS])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token=_END, pad_token=_PAD, padding_side="left")
    tokenizer.chat_template = qwen3_chat_template
    return tokenizer


def tiny_model(tokenizer: PreTrainedTokenizerFast, seed: int) -> Qwen3ForCausalLM:
    """Return a random Qwen3 of two layers of 64 numbers."""
    set_seed(seed)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=_CONTEXT,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    return Qwen3ForCausalLM(config)
