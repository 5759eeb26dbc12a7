"""Which servers of models visitors may name: nothing but what the operator named."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ecom_rlve.server.web.watch.origins import LOOPBACK, Origins

ALLOWED = Origins(["https://models.example", "http://10.0.0.5:8000", LOOPBACK])


@pytest.mark.parametrize(
    "address",
    [
        "https://models.example/v1",
        "https://models.example:443/v1/",
        "https://MODELS.example/v1",
        "http://10.0.0.5:8000/openai/v1",
        "http://127.0.0.1:11434/v1",
        "http://localhost:8080/v1",
        "http://[::1]:8080/v1",
        " http://127.0.0.1:8080/v1 ",
    ],
)
def test_what_the_operator_named_may_be_asked(address: str) -> None:
    assert ALLOWED.check(address) == address.strip().rstrip("/")


@pytest.mark.parametrize(
    "address",
    [
        "",
        "models.example/v1",
        "ftp://models.example/v1",
        "file:///etc/passwd",
        "http://models.example/v1",
        "https://models.example:8443/v1",
        "https://models.example.evil.test/v1",
        "https://models.example@evil.test/v1",
        "https://evil.test#@models.example/v1",
        "https://evil.test?@models.example/v1",
        "https://evil.test\\@models.example/v1",
        "https://user:word@models.example/v1",
        "https://models.example/v1?to=http://evil.test",
        "https://models.example/v1\r\nHost: evil.test",
        "http://10.0.0.5:8001/v1",
        "http://10.0.0.5/v1",
        "http://169.254.169.254/latest/meta-data",
        "http://2130706433/v1",
        "http://0x7f.1/v1",
        "http://0.0.0.0:8080/v1",
        "http://127.0.0.1.evil.test/v1",
        "http://localhost.evil.test/v1",
        "http://ⓛocalhost/v1",
        "http://[::1/v1",
        "http://127.0.0.1:99999/v1",
        "http://%31%32%37.0.0.1/v1",
    ],
)
def test_everything_else_may_not(address: str) -> None:
    with pytest.raises(ValueError, match=r"address|may not ask"):
        ALLOWED.check(address)


def test_nothing_is_allowed_by_default() -> None:
    with pytest.raises(ValueError, match="it may ask: none"):
        Origins([]).check("http://127.0.0.1:8080/v1")


@pytest.mark.parametrize("name", ["models.example", "https://models.example/v1", "http://u@h", "https://", "*"])
def test_a_setting_that_is_no_origin_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"origin|address"):
        Origins([name])


@given(st.text(max_size=60) | st.from_regex(r"https?://[a-z0-9.:@/\\?#\[\]%-]{0,40}", fullmatch=True))
@example("https://models.example/")
def test_what_is_allowed_leads_to_an_allowed_host(address: str) -> None:
    """Any text is refused, or its host is one that was named."""
    origins = Origins(["https://models.example", LOOPBACK])
    try:
        checked = origins.check(address)
    except ValueError:
        return
    parts = urlsplit(checked)
    assert parts.hostname in {"models.example", "localhost", "::1"} or str(parts.hostname).startswith("127.")
    assert parts.username is None
