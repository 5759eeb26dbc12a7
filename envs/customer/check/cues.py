"""Patterns of what a customer's sentence does: approve, refuse, ask to move on, leave.

Tables for :mod:`~ecom_rlve.envs.customer.check.check`. All patterns read casefolded text with straight apostrophes.
A text may match a pattern only if one of its acts does that thing (``ALLOWED_BY``); some acts must match theirs
(``REQUIRED``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ecom_rlve.envs.language.acts import ActKind


def pattern(alternatives: str) -> re.Pattern[str]:
    """Return a pattern of whole words; alternatives are separated by two blanks or a new line."""
    parts = [part for part in re.split(r"\n|  ", alternatives) if part.strip()]
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(str.strip, parts))})(?![\w-])")


NEGATION = pattern(
    r"""
    not  no  never  nothing  nobody  none  neither  nor  without  cannot  except  avoid  avoiding  hate  dislike
    excluding  unlike  instead of  rather than  other than  (?:any|every)thing but
    all but  refuse  \w+n't  dont  doesnt  isnt  wont  cant
    """
)
"""Words that negate a value in their clause."""

HEDGE = pattern(
    r"""
    something like  similar  such as  for example  for instance  e\.g  or so  or thereabouts  maybe  perhaps  possibly
    might  anything like  or whatever  or something  or anything  not sure  if available  preferably not
    used to  sort of  kind of  almost  nearly  partly  mostly  roughly  somewhat  ideally  preferably  hopefully
    probably  likely  more or less  half  twice  double  minus  i (?:guess|think|suppose)
    if (?:you (?:can|have)|possible)  could be  may be  (?:would|will) be nice  for now  at best  until  till
    previously  formerly  optional  more like  the (?:opposite|reverse)  opposed to  free of  (?:away|far) from
    tired of  (?:any|every)thing besides  (?:apart|aside) from  outside  excluded?  joking  kidding  scratch  wait
    actually
    """
)
"""Words that weaken what is said."""

OR_ELSE = pattern(
    r"""
    or (?:something|anything|whatever|similar|another|any other|other|some other|else)
    """
)
"""Words that give up a value again, later in its sentence."""

TAKEN_BACK = re.compile(
    r"^(?:\W*(?:no\b(?! (?:more|less))|not\b(?! (?:what|\x01))|wait\b|scratch\b|actually\b|make that\b|just kidding\b|"
    r"or (?:higher|lower|more|less|cheaper)\b|at (?:least|most)\b)| ?\+)"
)
"""Words right after a value, a comma or a dash between them, that change it or take it back."""

DENIED = re.compile(r"(?:\bnot|\bno|\bnever|n't)\W{1,3}$")
"""Words right before a value, a colon or a comma between them, that negate it."""

APPROVE = pattern(
    r"""
    that(?:'s| is| was)(?: all| just| exactly)? (?:right|correct|fine|perfect|great|what i (?:wanted|asked|want|had))
    (?:it|this|everything|all)(?:'s| is| are| looks| seems)?(?: all| just| exactly)? (?:right|correct|fine|fits)
    (?:it|this|everything|all)(?:'s| is| are| looks| seems)? (?:perfect|in order|good|as (?:i )?(?:asked|wanted))
    looks? (?:right|good|great|perfect|fine|correct)  perfect  exactly (?:right|what i)  just what i  spot on
    what i (?:wanted|asked for|requested|ordered)  correct  (?:fits|matches)  (?:can )?confirm(?:ed)?  well done
    (?:yes|yep|yeah),? (?:thanks|thank you|please)  no (?:problems?|issues?)  satisfied  great job  good job
    happy with (?:it|that|this|everything)  all (?:good|set|fine|well)
    """
)
"""The customer approves."""

DISAPPROVE = pattern(
    r"""
    wrong  incorrect  mistaken?  unwanted  reconsider  something else  problem  (?:is|are|looks) (?:off|missing)
    (?:not|\w+n't|cannot) (?:\w+ ){0,3}?(?:right|correct|what|asked?|order(?:ed)?|want(?:ed)?|request(?:ed)?)
    (?:not|\w+n't|cannot) (?:\w+ ){0,3}?(?:stay|fit|match|ask for)  not (?:everything|all|the|my|that|as)
    \w+n't (?:the|like|that|my)  (?:change|correct|fix|swap|redo) (?:that|it|this)
    """
)
"""The customer disapproves."""

_BLAME = pattern(
    r"""
    wrong  incorrect  mistake  missing  reconsider  can(?:'t|not) stay
    (?:that|this|it|which)(?:'s| is| was) not  (?:that|this|it) (?:isn't|wasn't)
    not (?:quite |exactly |really )?(?:right|correct|what i|everything|all)
    (?:didn't|did not) (?:ask|want|order|request)  (?:don't|do not|doesn't|does not) (?:want|like|need|fit|match)
    (?:isn't|aren't|wasn't) (?:right|correct|what)
    """
)

UNKNOWING = pattern(
    r"""
    (?:do|did|does|would|could|can|will)(?:n't| not|not) (?:\w+ )?(?:know|remember|recall|tell|say|provide|give|help)
    can(?:'t|not) (?:\w+ )?(?:tell|say|provide|give|help|remember)  no (?:idea|clue)  not (?:sure|certain|aware)
    unsure  wouldn't have a clue  beats me  unknown to me
    don't have (?:that|this|the|any) (?:information|details?|\w+ number)
    """
)
"""The customer does not know."""

INDIFFERENT = pattern(
    r"""
    (?:do|does|would)(?:n't| not) (?:\w+ )?(?:mind|care|matter)  no (?:\w+ )?preferences?
    not (?:\w+ )?(?:particular|fussy|picky|bothered)  any (?:\w+ )?(?:is|are|will|would|works|goes|does)(?: \w+)?
    anything (?:is|will|would|works|goes|does)  up to you  whatever  surprise me  either (?:way|is|one)
    i(?:'m| am) (?:open|easy|flexible|indifferent)  your (?:choice|call|pick)
    (?:don't|do not) have (?:a|any) (?:\w+ )?preferences?  unimportant  not important  no matter
    any (?:brand|colou?r|size|kind|style|material|price)  open to
    """
)
"""The customer does not mind: any value will do."""

ALL_TOLD = pattern(
    r"""
    told you (?:all|everything)  everything i(?:'ve| have)? (?:know|told|wanted|need|got|had|said|can|could)
    (?:nothing|no) (?:more|else|further|other|additional)(?: \w+)?  nothing (?:i|to|left)
    all (?:the|my) (?:details|wishes|requirements|information)
    (?:heard|have|said|shared|given) (?:it all|all|everything)  (?:can't|cannot|can not) think of
    that(?:'s| is| was) (?:all|everything|about it|it)  all i (?:know|have|can|wanted|need)
    """
)
"""The customer has nothing left to say."""

LISTENING = pattern(
    r"""
    go (?:on|ahead)  continue  carry on  proceed  listening  following  all ears  ok  okay  keep going  sure  alright
    all right  please do  take your time  understood  i see  got it  noted  waiting  go for it
    """
)

MOVING_ON = pattern(
    r"""
    mov(?:e|ing) on  never mind  forget  skip  leave (?:it|that|the)  enough (?:about|of|time)
    (?:not|don't|stop) (?:\w+ )?(?:spend|discuss|talk)\w*  proceed  (?:get|go) on  drop (?:it|that|the)  put .* aside
    let .* go
    """
)

STILL_SEEING = pattern(
    r"""
    still  see  check again  double-check  available  mistake  in stock  on sale  in the shop  not sold out
    """
)

WHICH_ONE = pattern(
    r"""
    which one  which of  which do you mean  who do you mean  what do you mean  which you mean  you mean
    what you are asking  what you're asking  asking about  refer to
    """
)

LEAVING = pattern(
    r"""
    leav(?:e|ing)  giv(?:e|ing) up  enough  not wish to continue  (?:don't|do not) (?:want|wish) to (?:continue|go on)
    stop here  elsewhere  nowhere  done with (?:this|it)  no (?:use|point)
    """
)
"""The customer leaves, dissatisfied."""

STAYING = pattern(
    r"""
    (?<!wish to )(?<!want to )continue  keep (?:looking|going|trying|at it|searching)  try again  one more  carry on
    i(?:'ll| will) (?:wait|stay)  still looking  what else  go on  another (?:chance|try|go)  (?:can|could|would) you
    not (?:leaving|giving up|going)  please (?:help|find|show|tell)  (?:won't|don't|never) (?:leave|give up|go)
    """
)
"""The customer stays after all."""

ENDING = pattern(
    r"""
    bye  goodbye  good-bye  that(?:'s| is| was) (?:all|it|everything)  (?:we're|we are|i'm|i am|me|all) done
    concludes  for today  farewell  take care  see you  until next time
    have a (?:\w+ )?(?:day|evening|one|weekend|time)
    """
)

WISHING = pattern(
    r"""
    i (?:also )?(?:need|want|require)  i(?:'d| would) (?:also )?(?:like|love)  looking for  (?:can|could|would) you
    show me  find me  one more  another  please (?:find|add|show|recommend)  not done  don't (?:end|close)
    """
)

STOCK = pattern(
    r"""
    sold out  out of stock  in stock  unavailable  available  back in stock  run out  on sale
    (?:still|can) see  (?:is|are|it's) still
    """
)
"""The customer says what the shop has."""

_LEAVES_SOMETHING = pattern(
    r"""
    leave .* out  leave out  do without  go without  (?:don't|do not|no longer) (?:need|want)
    forget (?:about|it|that|the)  never mind  cancel\w*  changed my mind
    """
)
_ALL_TOLD_AT_ONCE = pattern(
    r"""
    told you (?:all|everything)  nothing (?:more|else|further)
    no (?:other|further|more|additional) (?:wishes|requirements?|preferences?|needs|details?|items?)
    that(?:'s| is| was) (?:all|everything)  all i (?:know|need|want)
    """
)
APPROVES_ALL = pattern(
    r"""
    that(?:'s| is)(?: all| just| exactly)? (?:right|correct|fine|perfect|what i (?:wanted|asked))
    (?:everything|all)(?:'s| is| are| looks)? (?:right|correct|fine|perfect|good)
    looks (?:good|great|perfect|right|fine)  all (?:good|set|fine)  exactly what i (?:wanted|asked|need)\w*  perfect
    (?:got|have) (?:it|that|this|them|everything)(?: all)? right
    (?:can )?confirm(?:ed)?  i(?:'ll| will) (?:take|buy|order) (?:it|that|this|them)  satisfied  well done  great job
    good job
    """
)
_LEAVES = pattern(
    r"""
    goodbye  good-bye  bye  bye-bye  giv(?:e|ing) up  (?:i'm|i am) (?:leaving|done|off|out)  had enough
    going elsewhere
    """
)

_ORDERS = pattern(
    r"""
    (?:place|submit|complete|finalise|finalize|cancel) (?:the|my|this|that|an?|your) (?:order|answer|purchase)
    check ?out  (?:go ahead and|now) (?:buy|order|submit)
    """
)
_DESPAIRS = pattern(
    r"""
    giv(?:e|ing) up  had enough  leading nowhere  going elsewhere  not wish to continue  waste of (?:my )?time
    """
)

_K = ActKind
ALLOWED_BY: tuple[tuple[str, re.Pattern[str], frozenset[ActKind]], ...] = (
    ("blames what was done", _BLAME, frozenset((_K.CORRECT, _K.REJECT, _K.SKIP, _K.STILL_THERE, _K.GIVE_UP))),
    ("approves of what was done", APPROVES_ALL, frozenset((_K.CONFIRM, _K.CLOSE))),
    ("says that you do not know", UNKNOWING, frozenset((_K.DONT_KNOW, _K.NOTHING_LEFT))),
    ("says that you do not mind", INDIFFERENT, frozenset((_K.NO_PREFERENCE,))),
    ("says that nothing is left", _ALL_TOLD_AT_ONCE, frozenset((_K.NOTHING_LEFT, _K.CLOSE, _K.GIVE_UP))),
    ("tells them to finish", _ORDERS, frozenset()),
    ("leaves the shop", _LEAVES, frozenset((_K.GIVE_UP, _K.CLOSE))),
    ("gives up", _DESPAIRS, frozenset((_K.GIVE_UP,))),
    ("gives something up", _LEAVES_SOMETHING, frozenset((_K.STOCKOUT_FALLBACK, _K.SKIP, _K.CORRECT, _K.GIVE_UP))),
    ("speaks of what is in stock", STOCK, frozenset((_K.STOCKOUT_FALLBACK, _K.STILL_THERE, _K.DONT_KNOW))),
)
"""What a sentence may do only for some acts: its name for a retry, its pattern, the acts that allow it."""

REQUIRED: Mapping[ActKind, tuple[str, re.Pattern[str]]] = {
    _K.DONT_KNOW: ("say that you do not know", UNKNOWING),
    _K.NO_PREFERENCE: ("say that you do not mind", INDIFFERENT),
    _K.NOTHING_LEFT: ("say that you have told everything", ALL_TOLD),
    _K.CONFIRM: ("say that it is right", APPROVE),
    _K.REJECT: ("say that something is not right", DISAPPROVE),
    _K.CONTINUE: ("only let them go on", LISTENING),
    _K.SKIP: ("ask to move on", MOVING_ON),
    _K.CLARIFY: ("ask which one they mean", WHICH_ONE),
    _K.STILL_THERE: ("say that you still see it", STILL_SEEING),
    _K.GIVE_UP: ("say that you leave", LEAVING),
    _K.CLOSE: ("say goodbye", ENDING),
}
"""What the sentences of an act must do: its name for a retry, and its pattern."""

CONTRADICTS: Mapping[ActKind, re.Pattern[str]] = {
    _K.GIVE_UP: STAYING,
    _K.CLOSE: WISHING,
    _K.CONTINUE: WISHING,
    _K.NOTHING_LEFT: WISHING,
}
"""What the text must not do if the act is its only one."""

CORRECTING = pattern(
    r"""
    i (?:did |had )?(?:say|said|ask|asked|request|requested|told|tell|mention|mentioned|wanted|specified)
    (?:please|kindly|could you) (?:change|correct|fix|swap)  should (?:be|have|come|cost)  instead
    as (?:i )?(?:said|mentioned|requested)  wrong  incorrect  not  \w+n't  oh no
    (?:change|correct|fix) (?:that|it|this)
    """
)
"""A correction that tells the value: the customer says that they asked for something else."""
