"""The template bank: sentences for acts, by register, with places for an act's content.

In each bank a register has its own sentences and those that all registers share. A sentence begins with a capital
letter or a place, and ends with punctuation. Places:

- opening: ``%s`` is the item with its facts;
- others: ``{item}`` is "the desk lamp", ``{things}`` are labels ("the colour and the size"), ``{facts}`` are phrases
  after a noun, ``{preds}`` are phrases after "should", ``{tags}`` are labels with values, ``{count}`` is "three throw
  blankets", ``{title}`` is a product's title, ``{of_item}`` is " for the desk lamp" or nothing, ``{instead}`` is
  " instead of the desk lamp" or " instead".

Two rules for new sentences. If an item's quantity is not among the facts, no sentence may sound like a number of
pieces. And only a sentence that confirms may agree with something that the agent assumed.
"""

from __future__ import annotations

from ecom_rlve.envs.language.acts import Bank


def bank(
    *every: str,
    plain: tuple[str, ...] = (),
    terse: tuple[str, ...] = (),
    formal: tuple[str, ...] = (),
    chatty: tuple[str, ...] = (),
) -> Bank:
    """Return a bank of sentences: those of every register, and each register's own."""
    return {"plain": every + plain, "terse": every + terse, "formal": every + formal, "chatty": every + chatty}


FIRST_WANT = bank(
    "I need %s.",
    "I'm looking for %s.",
    plain=("I'd like %s.", "I want %s.", "I'm after %s.", "I'm shopping for %s."),
    terse=("Need %s.", "Looking for %s.", "Want %s.", "Get me %s."),
    formal=(
        "I would like to purchase %s.",
        "I would like %s.",
        "I wish to order %s.",
        "I am interested in %s.",
        "I would appreciate your help in finding %s.",
    ),
    chatty=(
        "I've been dreaming of %s!",
        "I'd love to get %s.",
        "I really need %s.",
        "I've set my heart on %s.",
        "What I'd love to find is %s.",
    ),
)
"""Names the first wanted item."""

NEXT_WANT = bank(
    "Also %s.",
    "And %s.",
    plain=("I'd also like %s.", "I also need %s.", "Then %s.", "Besides that I want %s.", "Next, %s."),
    terse=("Plus %s.", "Then %s."),
    formal=(
        "In addition, I would like %s.",
        "Furthermore, I require %s.",
        "I would also like to order %s.",
        "Moreover, I am interested in %s.",
    ),
    chatty=(
        "Oh, and I'd love to have %s too!",
        "And while we're at it, %s.",
        "On top of that I've got my eye on %s.",
        "Then I also need %s.",
    ),
)
"""Names a further wanted item."""

LISTED_WANT: tuple[str, ...] = (
    "My list: %s.",
    "Here is what I need: %s.",
    "Shopping list: %s.",
    "Wanted: %s.",
    "I need: %s.",
    "Please find: %s.",
    "For today: %s.",
)
"""Introduces a list of labels with values."""

FOLLOW_UP = bank(
    "It should {preds}.",
    "It has to {preds}.",
    terse=("Must {preds}.", "{tags}."),
    formal=("It is important to me that it should {preds}.", "I require the following: {tags}."),
    chatty=("It should {preds}, you know!", "Oh, and it should {preds}."),
)
"""Tells facts about what the previous sentence named."""

WISH_FOLLOW_UP = bank(
    "Ideally it would {preds}.",
    "If possible, I'd like it to {preds}.",
    plain=("It would be nice if it could {preds}.", "I'd prefer it to {preds}."),
    terse=("Preferably {facts}.", "Nice to have: {tags}.", "{tags}, if possible."),
    formal=("I would prefer it to {preds}, where possible.", "My preferences are these: {tags}."),
    chatty=("It would be lovely if it could {preds}!", "If I could choose, it would {preds}!"),
)
"""Tells preferences about what the previous sentence named: who cannot meet them has not failed."""

ANSWER_COUNT = bank(
    "{count}, please.",
    "I need {count}.",
    plain=("I'd like {count}.", "{count} will do.", "I want {count}.", "Please make it {count}."),
    terse=("{count}.", "Make it {count}."),
    formal=("I would like {count}.", "I require {count}.", "{count}, if you please."),
    chatty=("I'd love {count}!", "I was thinking of {count}.", "Let's make it {count}!"),
)

ANSWER_ITEM = bank(
    "{item} should {preds}.",
    "I want {item} {facts}.",
    plain=("I'd like {item} {facts}.", "As for {item}, it has to {preds}.", "{item} has got to {preds}."),
    terse=("{item}: {tags}.", "{item} {facts}.", "For {item}: {tags}."),
    formal=("I would like {item} {facts}.", "{item} should {preds}, please.", "Regarding {item}: {tags}."),
    chatty=("I'd love {item} {facts}!", "Well, {item} should {preds}.", "I imagine {item} {facts}."),
)

ANSWER_BARE = bank(
    "What I want should {preds}.",
    "{facts}, please.",
    plain=("What I need should {preds}.", "I'm thinking of {tags}.", "My choice should {preds}."),
    terse=("{tags}.", "{facts}.", "Must {preds}."),
    formal=(
        "I have this in mind: {tags}.",
        "What I require should {preds}, please.",
        "{facts}, if you please.",
    ),
    chatty=("Well, what I'd like should {preds}!", "Hmm, {facts}, please!", "What I have in mind should {preds}."),
)

WISH_ITEM = bank(
    "Ideally {item} would {preds}.",
    "If possible, I'd like {item} {facts}.",
    plain=("It would be nice if {item} could {preds}.", "I'd prefer {item} {facts}."),
    terse=("Preferably {item} {facts}.", "{item}, {tags}, if possible."),
    formal=("Where possible, I would prefer {item} {facts}.", "My preferences for {item} are these: {tags}."),
    chatty=("It would be lovely if {item} could {preds}!", "If I could choose, {item} would {preds}!"),
)

WISH_BARE = bank(
    "Ideally {facts}.",
    "If possible, {facts}.",
    plain=("I'd prefer it to {preds}.", "It would be nice if it could {preds}."),
    terse=("Preferably {facts}.", "{tags}, if possible."),
    formal=("Where possible, {facts}.", "My preferences are these: {tags}."),
    chatty=("If I could choose, it would {preds}!", "It would be lovely to have it {facts}!"),
)

CIRCUMSTANCES = bank(
    "{preds}.",
    "For your information: {tags}.",
    plain=("Just so you know, {preds}.", "I should say that {preds}.", "What may matter: {preds}."),
    terse=("{tags}.", "Details: {tags}.", "{preds}, by the way."),
    formal=("I would like to add that {preds}.", "The particulars are these: {tags}.", "Please note that {preds}."),
    chatty=("Well, {preds}!", "Let me see: {preds}.", "If that helps: {preds}!"),
)
"""Tells how things are; nothing here is a wish."""

ANSWER_NOUN = bank("I need {item}.", "It is about {item}.", terse=("{item}.",))
"""An answer that tells only the kind of thing."""

DONT_KNOW = bank(
    "I couldn't tell you that; you'd have to look up {things}.",
    "I don't know {things}; that is something for you to look up.",
    plain=("I have no idea about {things}, you'd have to check.", "I can't tell you {things}."),
    terse=("No idea about {things}.", "Don't know {things}, please check."),
    formal=("I am afraid I do not know {things}; kindly look that up.", "I cannot provide {things}."),
    chatty=("Oh, I wouldn't know {things}, sorry!", "You'd know {things} far better than I do, I can't say!"),
)

DONT_KNOW_BARE = bank(
    "I couldn't tell you that.",
    "I don't know that; you'd have to look it up.",
    terse=("No idea.",),
    formal=("I am afraid I do not know that.",),
    chatty=("Oh, I wouldn't know that, sorry!",),
)

NO_PREFERENCE = bank(
    "I don't mind about {things}{of_item}.",
    "I have no preference about {things}{of_item}.",
    plain=("It doesn't matter to me, I mean {things}{of_item}.", "I'm not particular about {things}{of_item}."),
    terse=("Don't care about {things}{of_item}.", "No preference on {things}{of_item}."),
    formal=(
        "I have no preference regarding {things}{of_item}.",
        "I am not particular about {things}{of_item}.",
    ),
    chatty=("Oh, I'm not fussy about {things}{of_item}!", "I really don't mind about {things}{of_item}, surprise me!"),
)

NO_PREFERENCE_BARE = bank(
    "I don't mind.",
    "I have no preference there.",
    terse=("Don't care.",),
    formal=("I have no particular preference.",),
    chatty=("Oh, I'm not fussy about that!",),
)

NOTHING_LEFT = bank(
    "I have told you everything I know.",
    "There is nothing I could add.",
    plain=("You have heard all my wishes.", "Nothing more comes to mind."),
    terse=("Nothing to add.", "You've heard it all."),
    formal=("I have nothing further to specify.", "You have all the details I can provide."),
    chatty=("I've told you all my wishes already!", "I can't think of anything I haven't told you!"),
)

CONFIRM = bank(
    "Yes, that is what I wanted.",
    "Yes, that is all correct.",
    plain=("That's right, it is what I asked for.", "Yes, that all fits."),
    terse=("Yes, correct.", "All correct.", "Yes, that fits."),
    formal=("Yes, that corresponds to what I asked for.", "I can confirm that this is correct."),
    chatty=("Yes, that's just what I wanted!", "Lovely, that is exactly right!"),
)

CORRECT_ITEM = bank(
    "{item} should {preds}, not what you picked.",
    "I asked for {item} {facts}; please change that.",
    plain=("That is not right: I said {item} {facts}.", "{item} should {preds}, that is not what you have now."),
    terse=("Wrong: {item}, {tags}.", "Not right, {item}: {tags}."),
    formal=("That is not correct; {item} should {preds}.", "I did request {item} {facts}; kindly correct that."),
    chatty=("Oh no, {item} should {preds}!", "Hmm, I did say {item} {facts}, could you change that?"),
)

CORRECT_BARE = bank(
    "What I want should {preds}, not what you picked.",
    "I asked for this: {tags}; please change that.",
    terse=("Wrong: {tags}, please.",),
    formal=("That is not correct; what I requested should {preds}.",),
    chatty=("Oh no, what I wanted should {preds}!",),
)

CORRECT_COUNT = bank(
    "I asked for {count}; please change that.",
    "That is not right, I need {count}.",
    plain=("I said {count}, that is not what you have now.",),
    terse=("Wrong: {count}, please.", "Not right, {count}."),
    formal=("The quantity is not correct; I requested {count}.",),
    chatty=("Oh no, I did say {count}!",),
)

CORRECT_CIRCUMSTANCES = bank(
    "That is not right, I told you: {preds}.",
    "I said something else: {preds}.",
    terse=("Wrong: {tags}.", "Not right, {tags}."),
    formal=("That is not correct; as I mentioned, {preds}.",),
    chatty=("Oh no, as I said, {preds}!",),
)

REFUSE = bank(
    "That is not {things} I want{of_item}.",
    "{things} you picked{of_item} can't stay like that.",
    plain=("You haven't got {things} right{of_item}.", "I don't want {things} you picked{of_item}."),
    terse=("Not {things} I want{of_item}.", "Wrong, I mean {things}{of_item}."),
    formal=("I am afraid that is not {things} I had in mind{of_item}.", "Kindly reconsider {things}{of_item}."),
    chatty=("Hmm, that is not {things} I had in mind{of_item}!", "Oh, that's not {things} I was after{of_item}."),
)

SKIP = bank(
    "Let's not spend more time on {item}; please move on.",
    "Never mind {item} now, let's get on with the rest.",
    terse=("Enough about {item}. Move on.",),
    formal=("I suggest that we do not discuss {item} any further and proceed.",),
    chatty=("We're going in circles with {item}, let's move on!",),
)

REJECT = bank(
    "Something you picked is not what I asked for.",
    "Not everything you picked is what I asked for.",
    plain=("There is something among it that I did not ask for.",),
    terse=("Something there is not right.", "Not all of that is right."),
    formal=("I am afraid part of your selection is not what I requested.",),
    chatty=("Hmm, something there is not what I asked for!", "Oh, I didn't ask for everything you picked!"),
)

CONTINUE = bank(
    "OK, please go on.",
    "Please continue.",
    plain=("Please carry on.", "I'm listening."),
    terse=("Carry on.", "Continue."),
    formal=("Please proceed with your work.", "I am following."),
    chatty=("I'm all ears, carry on!", "Mhm, I'm following along!"),
)

TAKE_VARIANT = bank(
    "Then take {item} {facts} instead.",
    "In that case {item} {facts}, please.",
    plain=("Then I'd like {item} {facts} instead.",),
    terse=("Then {item} {facts}.",),
    formal=("In that case I would like {item} {facts} instead.",),
    chatty=("Oh what a pity! Then I'd love {item} {facts} instead.",),
)

TAKE_TITLE = bank(
    'Then please take "{title}"{instead}.',
    'In that case I\'ll have "{title}"{instead}.',
    plain=('Then "{title}"{instead}, please.',),
    terse=('Then "{title}"{instead}.',),
    formal=('In that case I would like "{title}"{instead}.',),
    chatty=('Oh what a pity! Then let\'s go for "{title}"{instead}.',),
)

LEAVE_OUT = bank(
    "Then leave {item} out.",
    "In that case leave {item} out, please.",
    plain=("Then I'll do without {item}.",),
    terse=("Skip {item} then.",),
    formal=("In that case please leave {item} out.",),
    chatty=("Oh what a pity! Then let's leave {item} out.",),
)

CLARIFY_BETWEEN = bank(
    "Do you mean {things}?",
    "Which do you mean, {things}?",
    terse=("You mean {things}?",),
    formal=("Would you be asking about {things}?",),
    chatty=("Hmm, do you mean {things}?",),
)
"""Asks which topic of one word a question was for."""

CLARIFY = bank(
    "What do you mean?",
    "Could you say which you mean?",
    plain=("I don't know which you mean.",),
    terse=("Which do you mean?",),
    formal=("Which do you mean, please?",),
    chatty=("Sorry, what do you mean?",),
)
"""Asks what a report or a question is about."""

STILL_THERE = bank(
    "Please check again, I can still see {item} in stock.",
    "I don't think that is so, I still see {item} on sale.",
    terse=("Not sold out: I still see {item}.",),
    formal=("That must be a mistake; I can still see {item} in stock.",),
    chatty=("Are you sure? I can still see {item} in the shop!",),
)

GIVE_UP = bank(
    "This is leading nowhere, I'm leaving.",
    "I give up. Goodbye.",
    terse=("Enough. Bye.",),
    formal=("I do not wish to continue. Goodbye.",),
    chatty=("I'm sorry, I've had enough of this. Bye!",),
)

CLOSE = bank(
    "That was all for today. Goodbye.",
    "We're done then. Goodbye.",
    terse=("That's it. Bye.",),
    formal=("That concludes my business today. Goodbye.",),
    chatty=("And that's me done for today, bye!",),
)
