"""Places, ownership and expiry, without any transport."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.server.episodes.record import Connection, Record
from ecom_rlve.server.errors import CapacityError, EpisodeExistsError, UnknownEpisodeError
from ecom_rlve.server.sessions import Sessions

TTL = 100.0
Open = Callable[..., Record]


@pytest.fixture
def sessions(clock: Any) -> Sessions:
    return Sessions(max_sessions=3, max_ended=2, idle_ttl_s=TTL, now=clock)


@pytest.fixture
def open_episode(shop: Shop, sessions: Sessions) -> Open:
    def opened(episode_id: str, connection: Connection | None = None) -> Record:
        with sessions.reserve(episode_id, connection):
            record = Record(lambda: Episode(shop, EpisodeSpec("CART", seed=1), episode_id))
            sessions.add(record, connection)
        return record

    return opened


def finish(sessions: Sessions, record: Record) -> None:
    record.episode.step({"text": "no action at all"})
    sessions.ended(record)


def test_sockets_and_live_http_episodes_take_places(sessions: Sessions, open_episode: Open) -> None:
    connection = sessions.connect()
    open_episode("on the socket", connection)
    open_episode("over HTTP")
    assert sessions.active == 2
    sessions.connect()
    with pytest.raises(CapacityError) as refused:
        sessions.connect()
    assert (refused.value.active, refused.value.limit) == (3, 3)
    with pytest.raises(CapacityError):
        open_episode("one more")
    sessions.disconnect(connection)
    assert open_episode("one more")


def test_a_live_sockets_episode_never_expires(sessions: Sessions, open_episode: Open, clock: Any) -> None:
    connection = sessions.connect()
    record = open_episode("socket", connection)
    open_episode("http")
    clock.seconds = TTL * 50
    assert sessions.reap() == 1
    assert sessions.get("socket") is record
    finish(sessions, record)
    clock.seconds = TTL * 100
    assert sessions.reap() == 0
    assert connection.record is record


def test_an_episode_in_use_does_not_expire(sessions: Sessions, open_episode: Open, clock: Any) -> None:
    record = open_episode("slow")
    record.in_flight += 1
    clock.seconds = TTL * 2
    assert sessions.get("slow") is record
    record.in_flight -= 1
    sessions.touch(record)
    clock.seconds = TTL * 3
    assert sessions.get("slow") is record
    clock.seconds += 1
    with pytest.raises(UnknownEpisodeError):
        sessions.get("slow")
    assert (sessions.active, sessions.readable) == (0, 0)


def test_expired_episodes_make_room_before_anyone_is_refused(
    sessions: Sessions, open_episode: Open, clock: Any
) -> None:
    for name in "abc":
        open_episode(name)
    clock.seconds = TTL + 1
    assert sessions.connect()
    assert sessions.active == 1


def test_a_sockets_live_episode_goes_with_it_and_an_ended_one_stays_readable(
    sessions: Sessions, open_episode: Open, clock: Any
) -> None:
    first, second = sessions.connect(), sessions.connect()
    open_episode("live", first)
    finish(sessions, open_episode("ended", second))
    clock.seconds = TTL * 5
    sessions.disconnect(first)
    sessions.disconnect(second)
    with pytest.raises(UnknownEpisodeError):
        sessions.get("live")
    assert sessions.get("ended").episode.done
    clock.seconds += TTL + 1
    assert sessions.reap() == 1


def test_a_reset_on_a_socket_replaces_its_episode_even_under_the_same_id(
    sessions: Sessions, open_episode: Open
) -> None:
    connection = sessions.connect()
    first = open_episode("same", connection)
    second = open_episode("same", connection)
    assert (first.gone, connection.record, sessions.get("same")) == (True, second, second)
    open_episode("other", connection)
    with pytest.raises(UnknownEpisodeError):
        sessions.get("same")
    assert sessions.active == 1


def test_nobody_takes_the_id_of_anothers_live_episode(sessions: Sessions, open_episode: Open) -> None:
    open_episode("mine", sessions.connect())
    for connection in (None, sessions.connect()):
        with pytest.raises(EpisodeExistsError):
            open_episode("mine", connection)
    assert sessions.active == 2


def test_a_reset_that_fails_leaves_the_sockets_episode_and_all_places(sessions: Sessions, open_episode: Open) -> None:
    connection = sessions.connect()
    record = open_episode("kept", connection)
    for target in (connection, None):
        with pytest.raises(RuntimeError), sessions.reserve("kept" if target else "new", target):
            raise RuntimeError
    assert connection.record is record
    assert sessions.active == 1


def test_the_oldest_ended_episodes_go_first(sessions: Sessions, open_episode: Open) -> None:
    connection = sessions.connect()
    held = open_episode("held", connection)
    finish(sessions, held)
    for name in "ab":
        finish(sessions, open_episode(name))
    with pytest.raises(UnknownEpisodeError):
        sessions.get("held")
    assert connection.record is held
    assert sessions.readable == 2
    assert sessions.active == 1


def test_deleting_a_sockets_episode_leaves_the_socket_without_one(sessions: Sessions, open_episode: Open) -> None:
    connection = sessions.connect()
    sessions.delete(open_episode("e", connection))
    assert connection.record is None
    assert sessions.active == 1


def test_an_adopted_episode_leaves_its_first_socket(sessions: Sessions, open_episode: Open) -> None:
    first, second = sessions.connect(), sessions.connect()
    record = open_episode("e", first)
    sessions.adopt(record, second)
    assert (first.record, second.record) == (None, record)
    sessions.disconnect(first)
    assert sessions.get("e") is record
    sessions.adopt(open_episode("over HTTP"), second)
    assert sessions.active == 1
    with pytest.raises(UnknownEpisodeError):
        sessions.get("e")


@pytest.mark.parametrize("is_known_to_have_ended", [True, False])
def test_the_end_of_a_namesake_leaves_the_new_episode_its_place(
    sessions: Sessions, open_episode: Open, *, is_known_to_have_ended: bool
) -> None:
    """A step of the old episode may still be on its way when the new one stands in its place."""
    old = open_episode("same")
    old.episode.step({"text": "no action at all"})
    if is_known_to_have_ended:
        sessions.ended(old)
    new = open_episode("same")
    for leave in (sessions.ended, sessions.delete, sessions.ended):
        leave(old)
        assert sessions.get("same") is new
        assert (sessions.active, sessions.readable) == (1, 1)
    finish(sessions, new)
    assert (sessions.active, sessions.readable) == (0, 1)


def test_an_old_episode_that_goes_while_its_namesake_is_built_leaves_it_the_place(
    sessions: Sessions, open_episode: Open
) -> None:
    old = open_episode("same")
    finish(sessions, old)
    with sessions.reserve("same", None):
        assert sessions.active == 1
        sessions.delete(old)
        assert sessions.active == 1, "it is the one's that is being built"
        with pytest.raises(EpisodeExistsError), sessions.reserve("same", None):
            pass
        assert sessions.active == 1
    assert sessions.active == 0


def test_the_reset_id_of_a_namesake_leads_to_the_new_episode(sessions: Sessions, shop: Shop) -> None:
    made = []
    for _ in range(2):
        with sessions.reserve("same", None):
            record = Record(lambda: Episode(shop, EpisodeSpec("CART", seed=1), "same"))
            record.reset_id = "reset"
            sessions.add(record, None)
        made.append(record)
        if len(made) == 1:
            finish(sessions, record)
    sessions.delete(made[0])
    assert sessions.by_reset_id("reset") is made[1]
