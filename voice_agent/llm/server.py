"""An OpenAI-compatible server behind a thin edge: the only module that imports ``openai``.

Opens streams of chat completions, tries again where that may help and nothing has come yet, and
says in one sentence what went wrong. Neither the key nor what a server says of it is ever passed
on.
"""

import asyncio
import email.utils
import logging
import re
import time
from collections.abc import AsyncGenerator
from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any

from voice_agent.errors import ProviderError
from voice_agent.llm.access import KEY_VARIABLE, Access
from voice_agent.llm.limit import Ended, Limit

if TYPE_CHECKING:
    import openai

log = logging.getLogger(__name__)

_CONNECT_S = 10.0
_CLOSE_S = 1.0
_PAUSES_S = (0.5, 1.0, 2.0)
"""Waits before the next tries, where the server names none: so there are four tries at most."""
_TRANSIENT = frozenset((408, 409, 429, 500, 502, 503, 504))
_ADAPTABLE = frozenset((400, 422))
_REFUSALS = {"temperature": "temperature", "max_tokens": "max_completion_tokens"}
"""What can be left out of a request, and the word by which a server refuses it."""
_QUOTA = "insufficient_quota"
_LONGEST_DETAIL_CHARS = 200
_CHECK_ADDRESS = "Check llm.base_url (it often ends in /v1) and llm.remote_model."


class Server:
    """One server; ``access`` says where it is. ``close`` ends its connections."""

    def __init__(self, access: Access) -> None:
        self._openai = _library()
        self._access = access
        self._left_out: frozenset[str] = frozenset()
        self._client = self._openai.AsyncOpenAI(
            api_key=access.key or "none",  # the client insists on one
            base_url=access.base_url,
            max_retries=0,  # retries are bounded by the request's deadline, here
            http_client=self._openai.DefaultAsyncHttpxClient(
                # what is asked goes to the named server and nowhere else
                follow_redirects=False,
                trust_env=not access.on_this_machine,
            ),
        )

    async def close(self) -> None:
        """End all connections."""
        await self._client.close()

    async def chunks(
        self, body: dict[str, Any], limit: Limit
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Request a completion and yield its chunks as decoded JSON objects.

        Raises Ended where ``limit`` ends it, the connection being closed at once, and
        ProviderError.
        """
        stream = await self._open(body, limit)
        try:
            while (chunk := await self._next(stream, limit)) is not None:
                yield chunk
        finally:
            with suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE_S):
                    await stream.close()

    async def _next(self, stream: "openai.AsyncStream[Any]", limit: Limit) -> dict[str, Any] | None:
        try:
            chunk = await limit.wait(_advance(stream))
        except self._openai.APIError as error:
            raise self._failure(error, began=True) from None
        except ValueError:
            raise ProviderError(
                f"The server at {self._access.base_url} sent something that is not valid JSON.",
                mend=_CHECK_ADDRESS,
            ) from None
        if chunk is None:
            return None
        read = getattr(chunk, "model_dump", None)
        if read is None:
            raise ProviderError(
                f"The server at {self._access.base_url} sent something that is no completion.",
                mend=_CHECK_ADDRESS,
            )
        whole: dict[str, Any] = read(warnings=False)
        return whole

    async def _open(self, body: dict[str, Any], limit: Limit) -> "openai.AsyncStream[Any]":
        """Send the request until the server begins to answer it, or fails for good."""
        left_out, failed = self._left_out, 0
        while True:
            try:
                stream = await limit.wait(self._create(_without(body, left_out), limit.left_s))
            except self._openai.APIError as error:
                if limit.left_s <= 0:
                    raise Ended("deadline") from None
                unknown = _unknown(error, left_out)
                if unknown is not None:
                    left_out |= {unknown}
                    continue
                await self._pause(error, failed, limit)
                failed += 1
            else:
                self._left_out = left_out
                return stream

    async def _create(self, body: dict[str, Any], left_s: float) -> "openai.AsyncStream[Any]":
        timeout = None if left_s == float("inf") else max(left_s, 0.001)
        stream: openai.AsyncStream[Any] = await self._client.chat.completions.create(
            **body, timeout=self._openai.Timeout(timeout, connect=_CONNECT_S)
        )
        return stream

    async def _pause(self, error: "openai.APIError", failed: int, limit: Limit) -> None:
        """Wait before another try; raises ProviderError where there is none to be had."""
        pause_s = self._pause_s(error, failed)
        if pause_s is None or pause_s >= limit.left_s:
            raise self._failure(error) from None
        log.info("The model's server failed; trying again in %.1f s.", pause_s)
        await limit.wait(asyncio.sleep(pause_s))

    def _pause_s(self, error: "openai.APIError", failed: int) -> float | None:
        status = getattr(error, "status_code", None)
        known = isinstance(error, self._openai.APIConnectionError) or status in _TRANSIENT
        if not known or failed >= len(_PAUSES_S) or error.code == _QUOTA:
            return None
        response = getattr(error, "response", None)
        asked = None if response is None else _retry_after_s(response.headers.get("retry-after"))
        return _PAUSES_S[failed] if asked is None else asked

    def _failure(self, error: "openai.APIError", *, began: bool = False) -> ProviderError:
        status = getattr(error, "status_code", None)
        where = f"The server at {self._access.base_url}"
        if status in (401, 403):
            what = "refused the key" if self._access.key else "wants a key"
            return ProviderError(
                f"{where} {what} ({status}).",
                mend=f"Put the right one into the file of llm.api_key_file (or {KEY_VARIABLE}).",
            )
        if status is not None:
            return ProviderError(
                f"{where} answered {status}{self._detail(error)}.", mend=_mend(status)
            )
        if began:
            lost = isinstance(error, self._openai.APIConnectionError)
            detail = "" if lost else self._detail(error)
            return ProviderError(f"{where} broke off in mid-answer{detail}.", mend="Ask again.")
        return ProviderError(
            f"{where} cannot be reached.", mend="Is it running, and is llm.base_url its address?"
        )

    def _detail(self, error: "openai.APIError") -> str:
        """Return what the server said, shortened to one line and without the key."""
        said = _message(error.body)
        if self._access.key:
            said = said.replace(self._access.key, "…")
        said = re.sub(r"\b(sk|key)-[\w*-]+", "…", " ".join(said.split()))
        return f": {said[:_LONGEST_DETAIL_CHARS].rstrip('. ')}" if said else ""


def _unknown(error: "openai.APIError", left_out: frozenset[str]) -> str | None:
    """Return the optional part of the request that the server does not take, if any is left.

    Servers differ in how they say it; one that names none is asked without usage figures.
    """
    if getattr(error, "status_code", 0) not in _ADAPTABLE:
        return None
    said = str(error).casefold()
    for name, sign in _REFUSALS.items():
        if name not in left_out and sign in said:
            return name
    return None if "stream_options" in left_out else "stream_options"


async def _advance(stream: "openai.AsyncStream[Any]") -> Any:
    return await anext(stream, None)


def _without(body: dict[str, Any], left_out: frozenset[str]) -> dict[str, Any]:
    kept = {name: value for name, value in body.items() if name not in left_out}
    if "max_tokens" in left_out:  # the newer name is the only one that reasoning models take
        kept["max_completion_tokens"] = body["max_tokens"]
    return kept


def _retry_after_s(value: str | None) -> float | None:
    """Read a Retry-After header: seconds or a date (RFC 9110, 10.2.3)."""
    if value is None:
        return None
    with suppress(ValueError):
        seconds = float(value)
        return max(seconds, 0.0) if seconds == seconds else None  # NaN is unlike itself
    with suppress(ValueError):
        return max(email.utils.parsedate_to_datetime(value).timestamp() - time.time(), 0.0)
    return None


def _message(body: object) -> str:
    """Find the sentence in an error's body, wherever the server put it."""
    if isinstance(body, dict):
        found = next((body[key] for key in ("message", "error", "detail") if body.get(key)), "")
        return _message(found)
    return body if isinstance(body, str) and not body.lstrip().startswith("<") else ""


def _mend(status: int) -> str:
    if status == 429:
        return "Wait a moment, or look at what the server's account allows."
    if status in (400, 413, 422):
        return "If the request was too long for it, lower llm.context_tokens."
    return "Look at the server's log." if status >= 500 else _CHECK_ADDRESS


def _library() -> ModuleType:
    import openai

    return openai
