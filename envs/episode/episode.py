"""The episode: a turn machine over one world and one customer. Pure: no I/O, no clock, no await (SPEC §2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ecom_rlve import __version__
from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.customer.template_text import TemplateVoice
from ecom_rlve.envs.customer.turn import NOTHING_UNDERSTOOD, ClosedTurn, Understood
from ecom_rlve.envs.customer.voice import Utterance
from ecom_rlve.envs.difficulty import axes_of, overridden
from ecom_rlve.envs.environment import Environment
from ecom_rlve.envs.episode.action import Call, Grammar, ParsedAction, batches, may_scan, parse, result_of
from ecom_rlve.envs.episode.instructions import instructions, tool_schemas
from ecom_rlve.envs.episode.log import LogEntry, log_messages
from ecom_rlve.envs.episode.observation import fitted
from ecom_rlve.envs.episode.reward import FINISHED, Turns, compose
from ecom_rlve.envs.episode.utterances import (
    Question,
    Told,
    earlier_lines,
    errands_of,
    questions_to_read,
    utterances_of,
)
from ecom_rlve.envs.errors import ActionError, DifficultyError, DomainError, EpisodeDoneError, FormatFailureError
from ecom_rlve.envs.language.acts import Act, ActKind
from ecom_rlve.envs.registry import environment
from ecom_rlve.envs.scenario import Scenario
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import (
    EVERYTHING,
    EpisodeMetadata,
    EpisodeResult,
    EpisodeState,
    Format,
    Observation,
    Split,
    Style,
    Termination,
    ToolResult,
)
from ecom_rlve.streams import Streams


@dataclass(frozen=True, slots=True)
class EpisodeSpec:
    """What fixes an episode on a given catalog and version: equal specs are equal episodes."""

    env_id: str
    difficulty: int = 0
    seed: int = 0
    split: Split = "train"
    style: Style = "turn"
    axes: tuple[tuple[str, float], ...] = ()
    """Overrides of single axes, by name."""
    format: Format = "strict"
    """How raw text is read; nothing else depends on it."""


@dataclass(slots=True)
class _OpenTurn:
    """What has happened in the turn that is open."""

    calls: int = 0
    questions: tuple[str, ...] = ()
    changes: int = 0
    seen: int = 0
    stockout_was_known: bool = False


class Episode:
    """One live episode."""

    def __init__(
        self,
        shop: Shop,
        spec: EpisodeSpec,
        episode_id: str,
        *,
        include: tuple[str, ...] = EVERYTHING,
        disclose: bool = False,
        reveal_goal: bool = False,
        simulator: str = "template",
        unregistered: Environment[Any] | None = None,
    ) -> None:
        """Draw the episode and let the customer speak, in the words of the templates.

        ``include`` says what the first observation carries besides the opening, ``disclose`` puts difficulty and seed
        into it, ``reveal_goal`` puts the goal into the result; ``simulator`` names who words the customer, for the
        metadata; ``unregistered`` is played instead of the registered environment that ``spec`` names. Raises
        ``DifficultyError``, ``AxesError``, ``GenerationError`` or ``UnknownEnvironmentError``.
        """
        self.spec = spec
        self.id = episode_id
        self.environment: Environment[Any] = unregistered or environment(spec.env_id)
        most = self.environment.max_difficulty(shop)
        if spec.difficulty > most:
            raise DifficultyError(
                f"this catalog serves {self.environment.id} up to difficulty {most}, not {spec.difficulty}"
            )
        self.axes = overridden(axes_of(spec.difficulty), dict(spec.axes))
        self._streams = streams = Streams("episode", self.environment.id, spec.split, spec.seed)
        self.scenario: Scenario[Any] = self.environment.draw(shop, self.axes, streams, spec.split)
        self._customer = self.environment.customer(self.scenario, streams)
        self.t_max = self.environment.turn_budget(self.scenario)
        self._voice = TemplateVoice(self.scenario, streams)
        tools, answer = self.environment.tools, self.environment.answer
        self._grammar = Grammar(tools, answer, self.axes.b_tool, spec.style, spec.format)
        self._reveal_goal = reveal_goal
        self._simulator = simulator
        self.done = False
        self.result: EpisodeResult | None = None
        """How the episode ended; None before, and where it was aborted."""
        self.turns = 0
        """Closed turns."""
        self.customer_caused = 0
        """Closed turns that do not count against the agent."""
        self.steps = 0
        self._open = _OpenTurn()
        self._known = (0, 0)
        """What had been shown and how often the cart had changed when the world last moved on."""
        self._log: list[LogEntry] = []
        self._told: list[Told] = []
        """What the customer says in the latest observation."""
        self._understood = NOTHING_UNDERSTOOD
        self._shop = shop
        self.opening = self._latest = self._opening(include, disclose)

    @property
    def metadata(self) -> EpisodeMetadata:
        """The resolved arguments: beside the observations, never in them."""
        spec = self.spec
        return EpisodeMetadata(
            env_id=self.environment.id,
            difficulty=spec.difficulty,
            seed=spec.seed,
            split=spec.split,
            style=spec.style,
            format=spec.format,
            axes=dict(spec.axes),
            version=f"{__version__}/{self.environment.version}",
            catalog=self._shop.catalog.fingerprint,
            simulator=self._simulator,
        )

    @property
    def turns_left(self) -> int:
        """Turns the agent may still take: of its own budget, and of twice that in all (SPEC §2.3)."""
        return min(self.t_max - (self.turns - self.customer_caused), 2 * self.t_max - self.turns)

    @property
    def has_spoken(self) -> bool:
        """The customer says something in the latest observation."""
        return bool(self._told)

    @property
    def utterances(self) -> tuple[Utterance, ...]:
        """What the customer says in the latest observation, for a voice that words it anew; lazily built."""
        earlier = earlier_lines(self.opening, self._log, self._grammar)
        errands = errands_of(self.environment, self.scenario)
        return utterances_of(self._told, self._voice.persona, earlier, self._streams, errands)

    def reword(self, texts: Sequence[str]) -> Observation:
        """Put other words for :attr:`utterances` into the latest observation and the log, and return the observation.

        Only the words change: nothing that is counted or scored reads them. ``texts`` holds one text for each
        utterance; raises ``ValueError`` for another number.
        """
        if len(texts) != len(self._told):
            raise ValueError(f"the customer said {len(self._told)} things, not {len(texts)}")
        self._told = [told._replace(text=text) for told, text in zip(self._told, texts, strict=True)]
        return self._replace(fitted(self._latest.model_copy(update={"user_message": "\n".join(texts)})))

    def abort(self, reason: str) -> Observation:
        """End the episode after its latest step for a fault that is nobody's in it: no reward, no result."""
        self.done, self.result, self._told = True, None, []
        return self._replace(
            Observation(
                episode_id=self.id,
                turn=self.turns,
                turns_left=0,
                tool_calls_left=0,
                user_message="",
                tool_results=self._latest.tool_results,
                done=True,
                reward=None,
                infra_error=reason,
            )
        )

    def is_heavy(self, action: Mapping[str, Any]) -> bool:
        """Tell whether applying an action may scan the catalog; True too where only parsing it would tell."""
        return may_scan(action, self._grammar.tools)

    def unclear(self, action: Mapping[str, Any]) -> tuple[Question, ...]:
        """Return what an action asks that the rules cannot read, for a model that may; changes nothing."""
        if self.done:
            return ()
        return questions_to_read(self._customer, action, self._grammar, self._open.questions, self.turns, self._streams)

    def step(self, action: Mapping[str, Any], understood: Understood = NOTHING_UNDERSTOOD) -> Observation:
        """Apply one action and return what is new.

        ``understood`` holds names of topics for texts of :meth:`unclear`; anything else in it is not read. Raises
        ``EpisodeDoneError`` after the end and ``ActionError`` for a client's mistake; both change nothing. A model's
        malformed output ends the episode with reward -1.
        """
        if self.done:
            raise EpisodeDoneError("the episode has ended; reset starts a new one")
        try:
            parsed = parse(action, self._grammar)
        except FormatFailureError as failure:
            self._told = []
            observation = self._finish(Termination.FORMAT_FAILURE, [], None, reason=str(failure))
        else:
            self._told, self._understood = [], understood
            observation = self._apply(parsed)
        self.steps += 1
        self._latest = observation
        self._log.append((action, observation.tool_results, observation.user_message))
        return observation

    def finish(self) -> Observation:
        """End the episode as with its budget spent, for a client that cannot go on; no step, and nothing is said.

        Raises ``EpisodeDoneError`` after the end.
        """
        if self.done:
            raise EpisodeDoneError("the episode has ended; reset starts a new one")
        self._told = []
        self._latest = self._finish(Termination.TURN_BUDGET, [], None, reason=FINISHED)
        return self._latest

    def state(self) -> EpisodeState:
        """Return the whole conversation so far."""
        spec = self.spec
        return EpisodeState(
            episode_id=self.id,
            step_count=self.steps,
            turn=self.turns,
            done=self.done,
            env_id=self.environment.id,
            difficulty=spec.difficulty,
            seed=spec.seed,
            split=spec.split,
            style=spec.style,
            format=spec.format,
            messages=log_messages(self.opening, self._log),
        )

    def goal_json(self) -> dict[str, Any]:
        """Return the goal; for settings that reveal it and for tests, never before the end over the wire."""
        return self.environment.goal_json(self.scenario)

    def _opening(self, include: tuple[str, ...], disclose: bool) -> Observation:
        fields: dict[str, Any] = {
            "env_id": self.environment.id,
            "today": self.scenario.world.today.isoformat(),
            "max_turns": self.t_max,
            "tool_budget": self.axes.b_tool,
        }
        if text := instructions(self.environment, self.axes, self.t_max, self.spec.style, include):
            fields["instructions"] = text
        if "tools" in include:
            fields["tools"] = tool_schemas(self.environment, self.spec.style)
        if disclose:
            fields |= {"difficulty": self.spec.difficulty, "seed": self.spec.seed}
        self._say(self._customer.open())
        return self._observation([], reward=None, **fields)

    def _say(self, acts: tuple[Act, ...]) -> None:
        self._told.append(Told(acts, self.turns, *self._voice.say(acts, self.turns)))

    def _replace(self, observation: Observation) -> Observation:
        """Let an observation stand for the latest one."""
        if self._log:
            action, results, _ = self._log[-1]
            self._log[-1] = (action, results, observation.user_message)
        else:
            self.opening = observation
        self._latest = observation
        return observation

    def _apply(self, action: ParsedAction) -> Observation:
        results: list[ToolResult] = []
        room = self.axes.b_tool - self._open.calls
        for number, batch in enumerate(batches(action.calls, room, self.axes.b_tool)):
            if number and (ended := self._close("", None)):
                return self._finish(ended, results, None)
            results += self._execute(batch)
        answer = action.answer
        if answer is not None and answer.done and self.environment.takes_answer(self.scenario, answer):
            self.turns += 1
            return self._finish(Termination.ANSWERED, results, answer)
        closes = action.end_turn or not action.calls or bool(action.message or self._open.questions or action.answer)
        if closes:
            ended = self._close(action.message, answer)
            if ended:
                return self._finish(ended, results, None)
        return self._observation(results, reward=0.0)

    def _execute(self, batch: tuple[Call, ...]) -> list[ToolResult]:
        results = []
        for call in batch:
            results.append(self._call(call))
            if call.tool.is_free:
                self._open.questions += (str(getattr(call.args, "question", "")),)
            else:
                self._open.calls += 1
        world = self.scenario.world
        known = (world.seen, world.changes)
        if known != self._known:
            self._known = known
            self.environment.after_results(self.scenario)
        return results

    def _call(self, call: Call) -> ToolResult:
        try:
            return result_of(call, result=call.tool.run(self.scenario.world, call.args))
        except DomainError as refusal:
            return result_of(call, error=str(refusal), code=refusal.code)

    def _close(self, message: str, answer: Answer | None) -> Termination | None:
        """Close the open turn: the customer reacts; returns why the episode ends, where it does."""
        world, turn = self.scenario.world, self._open
        knows_stockout = self.environment.knows_stockout(self.scenario)
        reply = self._customer.reply(
            ClosedTurn(
                message=message,
                questions=turn.questions,
                changed=world.changes > turn.changes,
                answer=answer,
                met_stockout=knows_stockout and not turn.stockout_was_known and world.seen == turn.seen,
                understood=self._understood,
            )
        )
        self.turns += 1
        self.customer_caused += reply.is_customer_caused
        if reply.acts:
            self._say(reply.acts)
        self._open = _OpenTurn(changes=world.changes, seen=world.seen, stockout_was_known=knows_stockout)
        if reply.leaves:
            return Termination.CUSTOMER_LEFT
        return Termination.TURN_BUDGET if self.turns_left <= 0 else None

    def _finish(
        self,
        termination: Termination,
        results: list[ToolResult],
        answer: Answer | None,
        reason: str | None = None,
    ) -> Observation:
        self.done = True
        if termination is Termination.FORMAT_FAILURE:
            self.turns += 1
        is_answered = termination is Termination.ANSWERED
        judge = self.environment
        verdict = judge.verify(self.scenario, answer) if is_answered else judge.forfeit(self.scenario)
        turns = Turns(self.turns, self.customer_caused, self.t_max, is_cut_short=reason == FINISHED)
        result = compose(verdict, turns, self.scenario.world.shown_ids(), termination, self.spec.style)
        result.format = self.spec.format
        if reason is not None:
            result.reason = reason
        self.result = result
        if self._reveal_goal:
            result.goal = self.goal_json()
        if termination is Termination.ANSWERED:
            self._told = []
            self._say((Act(ActKind.CLOSE),))
        return self._observation(results, reward=result.r_total, result=result)

    def _observation(self, results: list[ToolResult], *, reward: float | None, **fields: Any) -> Observation:
        return fitted(
            Observation(
                episode_id=self.id,
                turn=self.turns,
                turns_left=0 if self.done else self.turns_left,
                tool_calls_left=0 if self.done else self.axes.b_tool - self._open.calls,
                user_message="\n".join([told.text for told in self._told]),
                tool_results=results,
                done=self.done,
                reward=reward,
                **fields,
            )
        )


__all__ = ["ActionError", "Episode", "EpisodeSpec"]
