"""The episode: a turn machine over one world and one customer. Pure: no I/O, no clock, no await (SPEC §2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ecom_rlve import __version__
from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.customer.conversation import Conversation
from ecom_rlve.envs.customer.customer import Customer
from ecom_rlve.envs.customer.template_text import TemplateVoice
from ecom_rlve.envs.customer.turn import NOTHING_UNDERSTOOD, ClosedTurn, Left, Understood
from ecom_rlve.envs.customer.voice import Spoken, Utterance
from ecom_rlve.envs.difficulty import axes_of, overridden
from ecom_rlve.envs.environment import Environment
from ecom_rlve.envs.episode.action import Call, Grammar, ParsedAction, batches, may_scan, parse, result_of
from ecom_rlve.envs.episode.instructions import instructions, tool_schemas
from ecom_rlve.envs.episode.log import FINISH, Log, Step
from ecom_rlve.envs.episode.observation import fitted
from ecom_rlve.envs.episode.open_turn import OpenTurn
from ecom_rlve.envs.episode.reward import FINISHED, Turns, compose
from ecom_rlve.envs.episode.spec import EpisodeSpec as EpisodeSpec
from ecom_rlve.envs.episode.utterances import Question, Told, earlier_lines, questions_to_read, utterances_of
from ecom_rlve.envs.episode.verdict import episode_verdict, judged
from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.errors import DifficultyError, DomainError, EpisodeDoneError, FormatFailureError
from ecom_rlve.envs.language.acts import Act, ActKind
from ecom_rlve.envs.registry import environment
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import (
    EVERYTHING,
    EpisodeMetadata,
    EpisodeResult,
    EpisodeState,
    FormatFault,
    Observation,
    Termination,
    ToolResult,
)
from ecom_rlve.streams import Streams


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
        unregistered: Environment | None = None,
    ) -> None:
        """Draw the episode and its opening, worded by the templates.

        ``include`` names what the first observation carries besides the opening. ``disclose`` puts difficulty and seed
        into it; ``reveal_goal`` puts the goal into the result. ``simulator`` says what words the customer, for the
        metadata. ``unregistered`` is an environment to play instead of the one that ``spec`` names. Raises
        ``DifficultyError``, ``AxesError``, ``GenerationError`` or ``UnknownEnvironmentError``.
        """
        self.spec = spec
        self.id = episode_id
        self.environment = unregistered or environment(spec.env_id)
        most = self.environment.max_difficulty(shop)
        if spec.difficulty > most:
            raise DifficultyError(
                f"this catalog serves {self.environment.about.id} up to difficulty {most}, not {spec.difficulty}"
            )
        self.axes = overridden(axes_of(spec.difficulty), dict(spec.axes))
        self._streams = streams = Streams("episode", self.environment.about.id, spec.split, spec.seed)
        self.world = World(shop, self.axes, streams, spec.split)
        self.scenario = self.environment.draw(self.world, streams)
        self.conversation = Conversation(self.scenario.intents)
        self.t_max = self.scenario.turn_budget
        self._voice = TemplateVoice(self.scenario, streams)
        about = self.environment.about
        self._grammar = Grammar(about.tools, about.answer, self.axes.b_tool, spec.style, spec.format)
        self._reveal_goal = reveal_goal
        self._simulator = simulator
        self.done = False
        self.result: EpisodeResult | None = None
        """How the episode ended; None before the end, and if the episode was aborted."""
        self.format_fault: FormatFault | None = None
        """The kind of mistake that ended the episode, after a format failure."""
        self.turns = 0
        """Number of closed turns."""
        self.customer_caused = 0
        """Number of closed turns that do not use up the agent's budget."""
        self._open = OpenTurn()
        self._known = (0, 0)
        """How much had been shown and changed when stock-outs were last checked."""
        self._told: list[Told] = []
        """What the customer says in the latest observation."""
        self._understood = NOTHING_UNDERSTOOD
        self._shop = shop
        self.log = Log(self._opening(include, disclose))

    @property
    def opening(self) -> Observation:
        """The first observation."""
        return self.log.opening

    @property
    def intent(self) -> Intent[Any]:
        """The intent that the customer spoke of last."""
        return self.conversation.current.intent

    @property
    def customer(self) -> Customer:
        """The customer in that intent."""
        return self.conversation.current.customer

    @property
    def metadata(self) -> EpisodeMetadata:
        """The resolved arguments; sent beside the observations, never in them."""
        spec = self.spec
        return EpisodeMetadata(
            env_id=self.environment.about.id,
            difficulty=spec.difficulty,
            seed=spec.seed,
            split=spec.split,
            style=spec.style,
            format=spec.format,
            axes=dict(spec.axes),
            version=f"{__version__}/{self.environment.about.version}",
            catalog=self._shop.catalog.fingerprint,
            bank=self._shop.bank.fingerprint,
            simulator=self._simulator,
            reward_profile=spec.reward_profile,
            observation_bytes=spec.observation_bytes,
        )

    @property
    def turns_left(self) -> int:
        """Turns that the agent may still take: within its own budget, and within twice that in all (SPEC §2.3)."""
        return min(self.t_max - (self.turns - self.customer_caused), 2 * self.t_max - self.turns)

    @property
    def has_spoken(self) -> bool:
        """Whether the customer says something in the latest observation."""
        return bool(self._told)

    @property
    def utterances(self) -> tuple[Utterance, ...]:
        """What the customer says in the latest observation, for a voice that rewords it; built when asked for."""
        earlier = earlier_lines(self.log, self._grammar)
        return utterances_of(self._told, self._voice.persona, earlier, self._streams, self.scenario.intents)

    @property
    def acts(self) -> tuple[Act, ...]:
        """The customer's acts in the latest observation, in the order in which they are said."""
        return tuple(act for told in self._told for act in told.acts)

    def reword(self, spoken: Sequence[Spoken]) -> Observation:
        """Replace the words of :attr:`utterances` in the latest observation and in the log; return the observation.

        Only the words change: nothing that is counted or scored depends on them. ``spoken`` holds one entry for each
        utterance; raises ``ValueError`` if the numbers differ.
        """
        if len(spoken) != len(self._told):
            raise ValueError(f"the customer said {len(self._told)} things, not {len(spoken)}")
        self._told = [told._replace(text=each.text) for told, each in zip(self._told, spoken, strict=True)]
        words = "\n".join(each.text for each in spoken)
        reworded = fitted(self.log.latest.model_copy(update={"user_message": words}), self.spec.observation_bytes)
        return self.log.amend(reworded, tuple(spoken))

    def abort(self, reason: str) -> Observation:
        """End the episode after its latest step because the server failed: no reward, no result."""
        self.done, self.result, self._told, self.log.aborted = True, None, [], reason
        return self.log.amend(
            Observation(
                episode_id=self.id,
                turn=self.turns,
                turns_left=0,
                tool_calls_left=0,
                user_message="",
                tool_results=self.log.latest.tool_results,
                done=True,
                reward=None,
                infra_error=reason,
            )
        )

    def is_heavy(self, action: Mapping[str, Any]) -> bool:
        """Tell whether applying an action may scan the catalog; True too where only parsing it would tell."""
        return may_scan(action, self._grammar.tools)

    def unclear(self, action: Mapping[str, Any]) -> tuple[Question, ...]:
        """Return the action's questions in which the rules find no topic, for a model to read; changes nothing."""
        if self.done:
            return ()
        return questions_to_read(self.customer, action, self._grammar, self._open.questions, self.turns, self._streams)

    def step(self, action: Mapping[str, Any], understood: Understood = NOTHING_UNDERSTOOD) -> Observation:
        """Apply one action and return what is new.

        ``understood`` holds names of topics for texts that :meth:`unclear` returned; other texts are ignored. Raises
        ``EpisodeDoneError`` after the end and ``ActionError`` for a client's mistake; both change nothing. Malformed
        output of a model ends the episode with reward -1.
        """
        if self.done:
            raise EpisodeDoneError("the episode has ended; reset starts a new one")
        try:
            parsed = parse(action, self._grammar)
        except FormatFailureError as failure:
            self._told, self.format_fault = [], failure.fault
            observation = self._finish(Termination.FORMAT_FAILURE, [], reason=str(failure))
        else:
            self._told, self._understood = [], understood
            observation = self._apply(parsed)
        self.log.steps.append(Step(action, observation, understood))
        return observation

    def finish(self) -> Observation:
        """End the episode as with its budget spent; nothing is said. Raises ``EpisodeDoneError`` after the end."""
        if self.done:
            raise EpisodeDoneError("the episode has ended; reset starts a new one")
        self._told = []
        observation = self._finish(Termination.TURN_BUDGET, [], reason=FINISHED)
        self.log.steps.append(Step(FINISH, observation))
        return observation

    def solve(self) -> dict[str, Any]:
        """Return the next action of an agent that knows the goal; it acts through the tools like any other."""
        action = self.intent.errand.solve(self.intent)
        if action.get("answer") and len(self.scenario.intents) > 1:
            action["answer"] = {"intent": self.intent.errand.about.id, **action["answer"]}
        return action

    def state(self) -> EpisodeState:
        """Return the whole conversation so far."""
        spec = self.spec
        return EpisodeState(
            episode_id=self.id,
            step_count=self.log.taken,
            turn=self.turns,
            done=self.done,
            env_id=self.environment.about.id,
            difficulty=spec.difficulty,
            seed=spec.seed,
            split=spec.split,
            style=spec.style,
            format=spec.format,
            messages=self.log.messages(),
        )

    def goal_json(self) -> dict[str, Any]:
        """Return the goal, for tests and for servers that reveal it; it is never sent before the end."""
        intents = self.scenario.intents
        if len(intents) == 1:
            return intents[0].errand.goal_json(intents[0])
        return {"intents": [{"intent": each.errand.about.id, "goal": each.errand.goal_json(each)} for each in intents]}

    def _opening(self, include: tuple[str, ...], disclose: bool) -> Observation:
        fields: dict[str, Any] = {
            "env_id": self.environment.about.id,
            "today": self.world.today.isoformat(),
            "max_turns": self.t_max,
            "tool_budget": self.axes.b_tool,
        }
        if text := instructions(
            self.environment, self.axes, self.t_max, self.spec.style, include, self.world.shop.catalog.currency
        ):
            fields["instructions"] = text
        if "tools" in include:
            fields["tools"] = tool_schemas(self.environment, self.spec.style)
        if disclose:
            fields |= {"difficulty": self.spec.difficulty, "seed": self.spec.seed}
        self._say(self.conversation.opening)
        return self._observation([], reward=None, **fields)

    def _say(self, acts: tuple[Act, ...]) -> None:
        self._told.append(Told(acts, self.turns, *self._voice.say(acts, self.turns)))

    def _apply(self, action: ParsedAction) -> Observation:
        results: list[ToolResult] = []
        answer, is_final = action.answer, action.answer is not None and action.answer.done
        room = self.axes.b_tool - self._open.calls
        parts = tuple(batches(action.calls, room, self.axes.b_tool))
        for number, batch in enumerate(parts):
            if number and (ended := self._close("", None, goes_on=True)):
                return self._finish(ended, results)
            results += self._execute(batch)
            if not (is_final and number == len(parts) - 1):
                self._sell()
        if answer is not None and is_final:
            self.conversation.close(judged(self.intent, answer))
            if self.conversation.is_over:
                self.turns += 1
                return self._finish(Termination.ANSWERED, results)
        closes = action.end_turn or not action.calls or bool(action.message or self._open.questions or action.answer)
        if closes:
            ended = self._close(action.message, answer)
            if ended:
                return self._finish(ended, results)
        return self._observation(results, reward=0.0)

    def _execute(self, batch: tuple[Call, ...]) -> list[ToolResult]:
        results = []
        for call in batch:
            results.append(self._call(call))
            if call.tool.is_free:
                self._open.questions += (str(getattr(call.args, "question", "")),)
            else:
                self._open.calls += 1
        return results

    def _sell(self) -> None:
        """Let things sell out that were shown; what was shown with the final answer stays, as nobody can look again."""
        known = (self.world.seen, self.world.changes)
        if known != self._known:
            self._known = known
            self.conversation.sell()

    def _call(self, call: Call) -> ToolResult:
        try:
            return result_of(call, result=call.tool.run(self.world, call.args))
        except DomainError as refusal:
            return result_of(call, error=str(refusal), code=refusal.code)

    def _close(self, message: str, answer: Answer | None, *, goes_on: bool = False) -> Termination | None:
        """Close the open turn and let the customer react; return why the episode ends, None if it goes on."""
        world, turn, talk = self.world, self._open, self.conversation
        stockouts = len(world.stockouts_seen)
        closed = ClosedTurn(
            message=message,
            questions=turn.questions,
            changed=world.changes > turn.changes,
            answer=answer,
            has_calls=turn.calls > 0,
            met_stockout=stockouts > turn.stockouts and world.seen == turn.seen,
            understood=self._understood,
        )
        heard = talk.hear(closed)
        left = Left.after(self.turns, self.customer_caused, self.t_max)
        # Nobody changes their mind in the middle of an action: the rest of it was written before it could be heard.
        change = talk.settles_for(heard) or (None if goes_on else talk.revises(closed, heard, left))
        if change is not None:
            self.intent.apply(change)
        reply = talk.reply(closed, heard, change)
        self.turns += 1
        self.customer_caused += reply.is_customer_caused
        if reply.acts:
            self._say(reply.acts)
        self._open = OpenTurn(changes=world.changes, seen=world.seen, stockouts=stockouts)
        if reply.leaves:
            return Termination.CUSTOMER_LEFT
        return Termination.TURN_BUDGET if self.turns_left <= 0 else None

    def _finish(self, termination: Termination, results: list[ToolResult], reason: str | None = None) -> Observation:
        self.done = True
        if termination is Termination.FORMAT_FAILURE:
            self.turns += 1
        verdict = episode_verdict(self.conversation)
        turns = Turns(self.turns, self.customer_caused, self.t_max, is_cut_short=reason == FINISHED)
        spec = self.spec
        result = compose(
            verdict,
            turns,
            self.world.shown_ids(),
            termination,
            spec.style,
            spec.format,
            reason,
            profile=spec.reward_profile,
        )
        result.observation_bytes = spec.observation_bytes
        self.result = result
        result.tool_errors = self.log.tool_errors(results)
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
            ),
            self.spec.observation_bytes,
        )
