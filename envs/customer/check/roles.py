"""Who speaks in a text: a customer, or instead a program or the shop."""

from __future__ import annotations

import re

from ecom_rlve.envs.customer.check.cues import pattern

_AI_TALK = pattern(
    r"""
    as an? (?:ai|assistant|language model|chatbot|large language model|shopping assistant|virtual assistant|agent)
    as your (?:\w+ )?(?:assistant|agent|helper)  (?:a |an |large )?language model  ai  chatbot  llm  system prompt
    (?:my|your|the|these|all|previous) instructions?  ignore (?:all|any|the|your|my|previous|every)
    hidden (?:list|goal|slots?|wish(?:es)?)  (?:my|the) goal  json  roleplay  role-play  the customer  the user
    persona  prompt  rewritten  reworded  rephrased  in (?:my|your) own words
    (?:here(?:'s| is)|this is) (?:a|my|the|your) (?:\w+ )?(?:message|reply|response|answer|version|sentence)
    (?:first|next|second) try  could not be used  conversation so far  (?:your|the|next) message  task of
    letter by letter  say goodbye
    i(?:'m| am) (?:sorry,? but )?(?:unable|not able) to  i can(?:'t|not) (?:assist|help|fulfil\w*|comply|do that)
    """
)
"""The model speaks about itself or its task, or repeats its instructions."""

_SPEAKER_LABEL = re.compile(
    r"(?:^|[.!?\n\s])(?:assistant|customer|user|you|agent|system|shop|human|ai|message|reply)\s*:"
)

_SHOP_TALK = pattern(
    r"""
    we(?:'ve got| have| do have| offer| carry| sell| stock| recommend| suggest| can offer| currently| are happy)(?! no)
    our (?:store|shop|products?|catalog(?:ue)?|selection|polic(?:y|ies)|team|website|range|inventory|customers?)
    i(?:'d| would)? (?:recommend|suggest)(?! (?:that )?(?:we|moving))  may i (?:help|assist|suggest|recommend)
    i can (?:help|assist|offer|find|recommend|suggest|check|look|show|add|order)
    (?:how|what) (?:can|may|could) i (?:help|assist|do for)  let me (?:help|check|find|search|assist|show|look)
    (?:happy|glad|here) to (?:help|assist)  here (?:are|is) (?:some|a few|your|our)  would you like
    (?:what|which|how many|how much) (?:\w+ ){0,3}(?:do|would|are|were) you (?:want|need|like|prefer|looking)
    (?:are |were )?you(?:'re| are)? looking for  do you (?:prefer|want|need|like)
    please (?:provide|specify|select|choose|tell me your|let me know (?:if|which|what|your))
    thank you for (?:shopping|contacting|reaching|choosing|visiting|your (?:order|purchase|interest|inquiry|question))
    (?:you're|you are) welcome  anything else i can  i(?:'ve| have) (?:added|found|placed|updated|processed|checked)
    i(?:'ll| will) (?:add|find|search|check|process|look (?:for|into|that)|assist|help)  based on your
    your (?:order|purchase|return|refund|request) (?:has been|is|was|will be)  add(?:ed)? to your cart
    i(?:'m| am) (?:so |very |really )?(?:glad|happy|pleased|sorry) (?:that |to hear that )?you
    you(?:'re| are) (?:so |very )?(?:pleased|happy|satisfied|enjoying|interested)  your loss
    what (?:is|are) your (?:budget|preferences?|size|favou?rite)  shopping assistant  customer service
    """
)
"""The shop speaks, not a customer."""


def speaks_as_another(text: str) -> str:
    """Return the words that show that somebody other than a customer speaks; empty if there are none."""
    found = _AI_TALK.search(text) or _SPEAKER_LABEL.search(text) or _SHOP_TALK.search(text)
    return found[0].strip() if found else ""
