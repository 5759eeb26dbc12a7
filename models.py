"""Wire types shared by server and client: the bodies that are sent.

Nothing here knows how an episode works; field docstrings are what ``/schema`` and ``/docs`` show.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from ecom_rlve.codes import DomainCode as DomainCode
from ecom_rlve.codes import ErrorCode as ErrorCode
from ecom_rlve.codes import FormatFault as FormatFault
from ecom_rlve.codes import Termination as Termination
from ecom_rlve.codes import Uncounted as Uncounted
from ecom_rlve.said_models import SaidAct as SaidAct
from ecom_rlve.said_models import SaidFact as SaidFact
from ecom_rlve.said_models import SaidItem as SaidItem

MAX_SEED = 2**63 - 1
MAX_DIFFICULTY = 20
Style = Literal["turn", "tool"]
Format = Literal["strict", "lenient"]
Split = Literal["train", "eval", "test"]
Include = Literal["tools", "brief", "format"]
EVERYTHING: tuple[Include, ...] = ("tools", "brief", "format")
"""What a first observation may carry besides the customer's first message."""
MAX_OBSERVATION_BYTES = 32_000
"""Greatest size of an observation as JSON (SPEC §2.4)."""


def whole(value: object) -> object:
    """Return 5.0 as 5, anything else as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(whole)
"""Reads 5.0 as 5: ``Annotated[int, Field(ge=1), WHOLE]``, bounds first, so that the schema states them."""


class ToolCall(BaseModel):
    """One tool call of an agent; a call of a chat API (``{id, type, function: {name, arguments}}``) is read too."""

    model_config = ConfigDict(extra="forbid")

    name: str
    args: dict[str, Any] = Field(default_factory=dict)
    """Arguments by name; ``arguments`` (an object or a JSON string) is accepted for it."""
    id: str | None = None
    """Comes back with the call's result as ``tool_call_id``."""


class Action(BaseModel):
    """One agent action: either the structured fields, or ``text`` with a model's raw output.

    A whole assistant message of a chat API (``role, content, tool_calls``) is read as the structured fields. These are
    the client's: an unknown one or a wrong type is an error answer and costs nothing. Tools' names, arguments, the
    answer and everything in ``text`` are the model's: a mistake in them is a format failure of the episode, reward -1.
    """

    model_config = ConfigDict(extra="forbid")

    assistant_message: str = ""
    """Said to the customer."""
    tool_calls: list[ToolCall] = Field(default_factory=list)
    """At most ``tool_budget`` calls, which are executed in order; ``ask_user`` is free."""
    answer: dict[str, Any] | None = None
    """The environment's answer object; ``{"done": true}`` submits."""
    end_turn: bool | None = None
    """False keeps the turn open (style ``tool`` only); absent: true, but for calls alone in style ``tool``."""
    text: str | None = None
    """Raw output of a model, instead of the other fields."""
    metadata: dict[str, Any] = Field(default_factory=dict)
    """The client's own notes. ``request_id`` in it makes a repeated step harmless; nothing else of it is read."""


def _accept_null(schema: dict[str, Any]) -> None:
    """Let a schema say that every property may be null."""
    for field in schema["properties"].values():
        if not any(branch.get("type") == "null" for branch in field.get("anyOf", ())):
            value = {name: field.pop(name) for name in list(field) if name not in ("title", "default")}
            field["anyOf"] = [value, {"type": "null"}]


class ResetRequest(BaseModel):
    """Arguments of a reset, all optional; unknown ones are ignored and a null means absent, also inside ``axes``.

    Trainers send whole dataset rows, whose empty cells are null and whose integers may have become 7.0.
    """

    model_config = ConfigDict(extra="ignore", json_schema_extra=_accept_null)

    env_id: Annotated[str, Field(max_length=64)] | None = None
    """Environment, case-insensitive: ``CART``, ``E_CART``, ``cart``."""
    collection: str | list[str] | None = None
    """``C1 C2 C4 C8`` or a list of environment ids; one of them is drawn if ``env_id`` is absent."""
    difficulty: Annotated[int, Field(ge=0, le=MAX_DIFFICULTY, strict=True), WHOLE] | None = None
    """0 to 20; absent: drawn from the curriculum of ``run_id``."""
    seed: Annotated[int, Field(ge=0, le=MAX_SEED, strict=True), WHOLE] | None = None
    """Absent: drawn by the server and returned."""
    episode_id: Annotated[str, Field(min_length=1, max_length=255)] | None = None
    """The client's own id for the episode; absent: the server makes one that cannot be guessed."""
    run_id: Annotated[str, Field(min_length=1, max_length=255)] = "default"
    """The run whose curriculum this episode counts for."""
    group_id: Annotated[str, Field(min_length=1, max_length=255)] | None = None
    """Resets of one run that name the same group play the same episode, however many: the rollouts of one prompt."""
    split: Split = "train"
    """Which of three disjoint sets of target products."""
    style: Style = "turn"
    """``turn``: an action is a turn; ``tool``: a turn is sent one tool call at a time."""
    format: Format = "strict"
    """How raw text is read; ``lenient``: also JSON amid prose, and the call syntaxes of Llama, Mistral, Qwen-Coder."""
    axes: dict[str, float] = Field(default_factory=dict)
    """Other values for single difficulty axes, for ablations."""
    include: list[Include] = list(EVERYTHING)
    """What the first observation carries besides the customer's first message: the list of ``tools``, and of the
    instructions the ``brief`` (the job, the budgets, the answer) and the ``format`` (how an action is written)."""
    request_id: Annotated[str, Field(min_length=16, max_length=255)] | None = None
    """A repeated reset with this id returns the stored answer, and its socket gets the episode. Draw it at random,
    because whoever sends the same id gets the episode."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {name: _filled(each) for name, each in given.items() if each is not None and name in cls.model_fields}


def _filled(value: Any) -> Any:
    """Return an object or a list without its nulls, anything else as it is."""
    if isinstance(value, dict):
        return {name: each for name, each in value.items() if each is not None}
    return [each for each in value if each is not None] if isinstance(value, list) else value


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


class FinishRequest(BaseModel):
    """Ends an episode early; the body may be empty."""

    model_config = ConfigDict(extra="forbid")

    request_id: Annotated[str, Field(min_length=1, max_length=255)] | None = None
    """A repeated request with this id returns the stored answer."""


class ResumeRequest(BaseModel):
    """Lets a socket take up a live episode whose own socket, or server process, was lost."""

    model_config = ConfigDict(extra="forbid")

    episode_id: Annotated[str, Field(min_length=1, max_length=255)]


class ToolResult(BaseModel):
    """The result of one tool call."""

    name: str
    tool_call_id: str | None = None
    """The call's own id, if it had one."""
    result: dict[str, Any] | None = None
    error: str | None = None
    """What was wrong and what to do."""
    code: DomainCode | None = None


class RewardProfile(BaseModel):
    """The weights of the parts of a reward: each at least 0, together 1. The defaults are those of SPEC §4."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: float = Field(default=0.75, ge=0, le=1)
    eff: float = Field(default=0.15, ge=0, le=1)
    hall: float = Field(default=0.1, ge=0, le=1)

    @model_validator(mode="after")
    def _require_a_whole(self) -> Self:
        # A billionth is room for thirds that were written as decimals.
        if abs(self.task + self.eff + self.hall - 1) > 1e-9:
            raise ValueError("task, eff and hall must add up to 1; r_task alone is task=1, eff=0, hall=0")
        return self


# Each weight is given, so that what was set and is sent does not depend on where a profile came from.
DEFAULT_PROFILE = RewardProfile(task=0.75, eff=0.15, hall=0.1)


class EpisodeResult(BaseModel):
    """How an episode ended (SPEC §4)."""

    r_task: float
    r_eff: float
    r_hall: float
    r_total: float
    """The sum of the parts by the weights of ``reward_profile``, in [-1, 1]; -1 for a format failure."""
    is_correct: bool
    correct_share: float
    """1 or 0 as ``is_correct``; in a journey the share of correct intents. What the curriculum counts."""
    termination: Termination
    turns: int
    effective_turns: int
    """Turns less those that the customer caused, at least 1."""
    style: Style
    format: Format = "strict"
    tool_errors: dict[DomainCode, int] = Field(default_factory=dict)
    """How often a tool result carried an error, by its code; codes that none carried are absent."""
    reward_profile: RewardProfile = DEFAULT_PROFILE
    """The weights by which ``r_total`` was added up: those of the run."""
    observation_bytes: int = MAX_OBSERVATION_BYTES
    """Greatest size that the run allows an observation."""
    reason: str | None = None
    """What was wrong with the format, after a format failure; that the client finished the episode, if it did."""
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
    format: Format = "strict"
    axes: dict[str, float]
    version: str
    catalog: str
    """Fingerprint of the catalog."""
    bank: str = ""
    """Fingerprint of the sentences that the customer is worded with."""
    simulator: str = "template"
    """Who words the customer: ``template``, or the model's name and the version of its prompts."""
    reward_profile: RewardProfile = DEFAULT_PROFILE
    """The weights of the reward's parts, which are the run's."""
    observation_bytes: int = MAX_OBSERVATION_BYTES
    """Greatest size that the run allows an observation."""


class StepMetadata(EpisodeMetadata):
    """What stands beside an observation."""

    run_id: str = "default"
    """The run whose episode this is."""
    counts: bool = False
    """Whether the run's curriculum counts the episode, as things stood at the reset. It counts once it ends, or is
    given up after its first step, unless its level is left or its seed judged before."""
    why_uncounted: Uncounted | None = None
    """Why it does not, if it does not."""
    group_id: str | None = None
    """The group that the reset named."""
    group_member: int | None = None
    """Which of the group's episodes this is, from 1, in the order in which they began."""
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
    format: Format = "strict"
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
