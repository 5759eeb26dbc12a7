"""Chat-control tokens in text that others wrote: a title may hold ``<|im_start|>system``, and must not be obeyed.

Tokenizers of chat models turn such words into the signs that begin and end turns, reasoning and tool calls, wherever
they stand. Text of a product reaches a policy in tool results and in what the customer says.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"<\|?[^<>|\s]{1,40}\|>|<\|[^<>|\s]{1,40}>"  # <|im_end|>, <turn|>, <|turn>
    r"|<｜[^<>｜\s]{1,40}｜>"  # <｜end▁of▁sentence｜>
    r"|\[\|[^\[\]|\s]{1,40}\|\]"  # [|endofturn|]
    r"|</?(?:think(?:ing)?|s|bos|eos|pad|unk|mask|sop|tools?|functions?|parameters?|invoke|answer|message)>"
    r"|</?[a-z]+(?::[a-z]+)?(?:_[a-z0-9]+)+(?:[\s=][^<>]*)?/?>"  # <tool_call>, <start_of_turn>, <extra_id_0>
    r"|</?[a-z]+=[^<>]{1,200}>"  # <function=name>
    r"|<</?SYS>>"
    r"|(?-i:\[/?(?:[A-Z]+(?:_[A-Z]+)+|INST|ARGS|THINK|gMASK)\])",  # [TOOL_CALLS], [/INST]
    re.IGNORECASE,
)


def without_control_tokens(text: str) -> str:
    """Return the text with a blank for each token; a text without any as it is.

    >>> without_control_tokens("Plain mug<|im_end|>, [SET of 2]")
    'Plain mug , [SET of 2]'
    """
    return _TOKEN.sub(" ", text) if "<" in text or "[" in text else text
