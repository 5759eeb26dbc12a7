"""Wire types shared by server and client: the bodies that are sent, and every code in them.

Nothing here knows how an episode works; field docstrings are what ``/schema`` and ``/docs`` show.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_SEED = 2**63 - 1
MAX_DIFFICULTY = 20
Style = Literal["turn", "tool"]
Split = Literal["train", "eval", "test"]
Include = Literal["tools", "instructions"]


class ErrorCode(StrEnum):
    """Every code an error answer may carry; the only place where one is spelled."""

    INVALID_JSON = "INVALID_JSON"
    """The body or frame is not JSON (NaN and Infinity are not JSON either)."""
    VALIDATION_ERROR = "VALIDATION_ERROR"
    """JSON of the wrong shape (a field is missing, unknown or of the wrong type), or it contradicts the address."""
    UNKNOWN_TYPE = "UNKNOWN_TYPE"
    """A WebSocket frame of no known type."""
    EXECUTION_ERROR = "EXECUTION_ERROR"
    """The request was understood and cannot be carried out now."""
    CAPACITY_REACHED = "CAPACITY_REACHED"
    """All places for live episodes are taken; try again later."""
    FACTORY_ERROR = "FACTORY_ERROR"
    """OpenEnv's code for an environment that cannot be made; never sent by this server."""
    SESSION_ERROR = "SESSION_ERROR"
    """OpenEnv's code for a broken session; sent only with an internal error."""
    UNKNOWN_ENV = "UNKNOWN_ENV"
    """No environment or collection has this name."""
    UNKNOWN_EPISODE = "UNKNOWN_EPISODE"
    """No live episode has this id: it never existed, expired or was deleted."""
    EPISODE_EXISTS = "EPISODE_EXISTS"
    """A live episode has this id already."""
    NOT_RESET = "NOT_RESET"
    """A step or state was asked for before any reset."""
    EPISODE_DONE = "EPISODE_DONE"
    """The episode has ended; reset starts a new one."""
    EPISODE_LIVE = "EPISODE_LIVE"
    """The episode has not ended yet; what was asked for is available after the end."""
    DIFFICULTY_TOO_HIGH = "DIFFICULTY_TOO_HIGH"
    """The loaded catalog cannot serve this difficulty in this environment."""
    GENERATION_FAILED = "GENERATION_FAILED"
    """No goal could be drawn for this seed from the loaded catalog."""
    REQUEST_CONFLICT = "REQUEST_CONFLICT"
    """This request id was used before with another body."""
    GROUP_CONFLICT = "GROUP_CONFLICT"
    """The group plays another episode than this reset asks for."""
    PAYLOAD_TOO_LARGE = "PAYLOAD_TOO_LARGE"
    """The body or frame exceeds the size limit."""
    UNAUTHORIZED = "UNAUTHORIZED"
    """The bearer token is missing or wrong."""
    NOT_FOUND = "NOT_FOUND"
    """No such route, or no such method on it."""
    SIMULATOR_UNAVAILABLE = "SIMULATOR_UNAVAILABLE"
    """The model that words the customer does not answer, and templates must not replace it; try again later."""
    INTERNAL_ERROR = "INTERNAL_ERROR"
    """A fault of the server; the episode is unchanged."""


class DomainCode(StrEnum):
    """Every code a tool result may carry in ``error``: the store said no, the episode goes on."""

    UNKNOWN_PRODUCT = "UNKNOWN_PRODUCT"
    """No product has this id."""
    UNKNOWN_VARIANT = "UNKNOWN_VARIANT"
    """The product has no variant of this id."""
    UNKNOWN_LINE = "UNKNOWN_LINE"
    """The cart has no line of this id, or no order has."""
    UNKNOWN_SECTION = "UNKNOWN_SECTION"
    """The policy book has no section of this id."""
    UNKNOWN_FILTER_VALUE = "UNKNOWN_FILTER_VALUE"
    """No product has this value of a filter; the message names similar values."""
    OUT_OF_STOCK = "OUT_OF_STOCK"
    """Sold out, or fewer units left than asked for."""
    PAGE_TOO_DEEP = "PAGE_TOO_DEEP"
    """``offset + limit`` is beyond the last result that a search can page to."""
    EMPTY_QUERY = "EMPTY_QUERY"
    """A search with neither words nor a filter."""
    NOT_SHOWN = "NOT_SHOWN"
    """No result has shown this product yet."""
    UNKNOWN_ORDER = "UNKNOWN_ORDER"
    """The customer has no order of this id."""
    NOT_DELIVERED = "NOT_DELIVERED"
    """The order has not arrived: nothing of it can be returned."""
    WINDOW_CLOSED = "WINDOW_CLOSED"
    """The return window is over."""
    FINAL_SALE = "FINAL_SALE"
    """Bought at final sale: not returnable."""
    ALREADY_RETURNED = "ALREADY_RETURNED"
    """A return or an exchange of this line was initiated before."""


class Termination(StrEnum):
    """Why an episode ended."""

    ANSWERED = "answered"
    FORMAT_FAILURE = "format_failure"
    TURN_BUDGET = "turn_budget"
    CUSTOMER_LEFT = "customer_left"


class ToolCall(BaseModel):
    """One tool call of an agent."""

    model_config = ConfigDict(extra="forbid")

    name: str
    args: dict[str, Any] = Field(default_factory=dict)
    """Arguments by name; ``arguments`` (an object or a JSON string) is accepted for it."""


class Action(BaseModel):
    """One agent action: either the structured fields, or ``text`` with a model's raw output.

    A mistake of the *model* is a format failure of the episode, reward -1. A mistake of the *client* is answered with
    an error and costs nothing. This class states the intended shape; the server also reads some variants of it.
    """

    model_config = ConfigDict(extra="forbid")

    assistant_message: str = ""
    """Said to the customer."""
    tool_calls: list[ToolCall] = Field(default_factory=list)
    """At most ``tool_budget`` calls, which are executed in order; ``ask_user`` is free."""
    answer: dict[str, Any] | None = None
    """The environment's answer object; ``{"done": true}`` submits."""
    end_turn: bool = True
    """False keeps the turn open (style ``tool`` only)."""
    text: str | None = None
    """Raw output of a model, instead of the other fields."""
    metadata: dict[str, Any] = Field(default_factory=dict)
    """The client's own notes. ``request_id`` in it makes a repeated step harmless; nothing else of it is read."""


class ResetRequest(BaseModel):
    """Arguments of a reset, all optional; unknown ones are ignored (trainers send whole dataset rows)."""

    model_config = ConfigDict(extra="ignore")

    env_id: Annotated[str, Field(max_length=64)] | None = None
    """Environment, case-insensitive: ``CART``, ``E_CART``, ``cart``."""
    collection: str | list[str] | None = None
    """``C1 C2 C4 C8`` or a list of environment ids; one of them is drawn if ``env_id`` is absent."""
    difficulty: Annotated[int, Field(ge=0, le=MAX_DIFFICULTY, strict=True)] | None = None
    """0 to 20; absent: drawn from the curriculum of ``run_id``."""
    seed: Annotated[int, Field(ge=0, le=MAX_SEED, strict=True)] | None = None
    """Absent: drawn by the server and returned."""
    episode_id: Annotated[str, Field(min_length=1, max_length=255)] | None = None
    """The client's own id for the episode; absent: the server makes one that cannot be guessed."""
    run_id: Annotated[str, Field(min_length=1, max_length=255)] = "default"
    """The run whose curriculum this episode counts for."""
    group_id: Annotated[str, Field(min_length=1, max_length=255)] | None = None
    """Resets of one run that name the same group get the same episode: the rollouts of one prompt."""
    group_size: Annotated[int, Field(ge=1, le=4096, strict=True)] = 8
    """Number of resets that a group serves; the group's first reset decides."""
    split: Split = "train"
    """Which of three disjoint sets of target products."""
    style: Style = "turn"
    """``turn``: an action is a turn; ``tool``: a turn may be sent one tool call at a time."""
    axes: dict[str, float] = Field(default_factory=dict)
    """Other values for single difficulty axes, for ablations."""
    include: list[Include] = ["tools", "instructions"]
    """What the first observation carries besides the customer's first message."""
    request_id: Annotated[str, Field(min_length=16, max_length=255)] | None = None
    """A repeated reset with this id returns the stored answer, and its socket gets the episode. Draw it at random,
    because whoever sends the same id gets the episode."""


class StepRequest(BaseModel):
    """One step over HTTP."""

    model_config = ConfigDict(extra="forbid")

    episode_id: Annotated[str, Field(min_length=1, max_length=255)]
    action: dict[str, Any]
    """See :class:`Action`."""
    request_id: Annotated[str, Field(min_length=1, max_length=255)] | None = None
    """A repeated step with this id returns the stored answer and applies nothing."""
    timeout_s: float | None = None
    """Accepted for OpenEnv's clients; not used."""


class ToolResult(BaseModel):
    """The result of one tool call."""

    name: str
    result: dict[str, Any] | None = None
    error: str | None = None
    """What was wrong and what to do."""
    code: DomainCode | None = None


class EpisodeResult(BaseModel):
    """How an episode ended (SPEC §4)."""

    r_task: float
    r_eff: float
    r_hall: float
    r_total: float
    """0.75 r_task + 0.15 r_eff + 0.10 r_hall in [-1, 1]; -1 for a format failure."""
    is_correct: bool
    correct_share: float
    """1 or 0 as ``is_correct``; in a journey the share of correct intents. What the curriculum counts."""
    termination: Termination
    turns: int
    effective_turns: int
    """Turns less those that the customer caused, at least 1."""
    style: Style
    reason: str | None = None
    """What was wrong with the format, after a format failure."""
    goal: dict[str, Any] | None = None
    """Only if the server is configured to reveal it."""


class Observation(BaseModel):
    """What the policy may see: what is new since the last step. The whole conversation is at ``state``."""

    episode_id: str
    turn: int
    """Number of turns that are over."""
    turns_left: int
    """Turns the agent may still take."""
    tool_calls_left: int
    """Tool calls that are left in the current turn."""
    user_message: str
    """What the customer said; empty if they said nothing."""
    tool_results: list[ToolResult]
    done: bool
    reward: float | None
    """None on reset, 0.0 on every non-final step, the episode's total at the end; None if ``infra_error`` is set."""
    env_id: str | None = None
    today: str | None = None
    """The store's date, ISO 8601 (reset only)."""
    max_turns: int | None = None
    tool_budget: int | None = None
    """Tool calls per turn (reset only)."""
    instructions: str | None = None
    tools: list[dict[str, Any]] | None = None
    """OpenAI function schemas (reset only)."""
    difficulty: int | None = None
    """Only if the server discloses it to the policy."""
    seed: int | None = None
    """Only if the server discloses it to the policy."""
    truncated: int | None = None
    """Product cards dropped from the end because the observation was too large."""
    result: EpisodeResult | None = None
    """Only with ``done``; absent if ``infra_error`` is set."""
    infra_error: str | None = None
    """Why the server had to end the episode, through no fault of the agent. Such an episode counts for nothing."""


class EpisodeMetadata(BaseModel):
    """The resolved arguments of an episode. They stand beside the observation, never in it."""

    env_id: str
    difficulty: int
    seed: int
    split: Split
    style: Style
    axes: dict[str, float]
    version: str
    catalog: str
    """Fingerprint of the catalog."""
    simulator: str = "template"
    """Who words the customer: ``template``, or the model's name and the version of its prompts."""


class SaidFact(BaseModel):
    """One fact that the customer said."""

    slot: str
    """``brand``, ``color``, ``price``, ``quantity``, ``variant`` …: what a question for it names."""
    attribute: str
    """The column that it is about; differs from ``slot`` for ``variant``."""
    op: str
    """How a product is compared with it: ``eq``, ``any_of``, ``at_most``, ``at_least``."""
    value: str | float | list[str]
    """A word, several (``any_of``) or a number in ``unit``; prices are integer cents."""
    unit: str = ""


class SaidItem(BaseModel):
    """One thing that the customer spoke of."""

    singular: str
    plural: str
    facts: list[SaidFact] = Field(default_factory=list)


class SaidAct(BaseModel):
    """One act of the customer's latest message: what was said, never what was left unsaid."""

    kind: str
    """``open``, ``answer``, ``correct`` …"""
    items: list[SaidItem] = Field(default_factory=list)
    attributes: list[str] = Field(default_factory=list)
    """What a ``dont_know``, ``no_preference`` or ``correct`` without a value speaks of."""
    title: str = ""
    """Title of the product that is to be taken instead."""
    says: dict[str, str] = Field(default_factory=dict)
    """What an opening says beside facts, by name."""
    intent: str = ""
    """In a journey: the errand that the customer begins or comes back to."""


class StepMetadata(EpisodeMetadata):
    """What stands beside an observation."""

    acts: list[SaidAct] | None = None
    """The customer's latest message as acts; only where the server discloses them, for judging scripted agents."""


class StepResponse(BaseModel):
    """Answer to a reset or a step."""

    observation: Observation
    reward: float | None
    done: bool
    metadata: StepMetadata


class Message(BaseModel):
    """One line of a conversation."""

    role: Literal["user", "assistant", "tool"]
    content: str


class EpisodeState(BaseModel):
    """The whole conversation so far, for people and trainers; holds nothing of the goal."""

    episode_id: str
    step_count: int
    """Steps applied since reset."""
    turn: int
    done: bool
    env_id: str
    difficulty: int
    seed: int
    split: Split
    style: Style
    messages: list[Message]


class ErrorDetail(BaseModel):
    """What went wrong with a request, and what to do."""

    code: ErrorCode
    message: str
    errors: list[dict[str, Any]] | None = None
    """Field by field, if a body had the wrong shape."""


class ErrorResponse(BaseModel):
    """Body of every HTTP answer with status 400 or above."""

    error: ErrorDetail


class EnvironmentInfo(BaseModel):
    """One environment of a server."""

    env_id: str
    title: str
    version: str
    max_difficulty: int
    """The highest difficulty that the loaded catalog can serve."""
    tools: list[str]
    answer_schema: dict[str, Any]
    axes: list[str] = Field(default_factory=list)
    """Names of the difficulty axes that are live."""
    chance: list[float] = Field(default_factory=list)
    """By difficulty from 0: the probability that an agent which picks without hearing the customer is right; empty
    where such a pick never is."""
    members: list[str] = Field(default_factory=list)
    """Environments whose errands it is made of; empty where it has errands of its own."""
