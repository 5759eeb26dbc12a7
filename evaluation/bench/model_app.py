"""A chat endpoint in OpenAI's protocol that answers after a fixed time, like a busy model server."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer
import uvicorn
from fastapi import FastAPI

NAME = "steady"
_WORDS = "All right, thank you."


def create_app(latency_s: float) -> FastAPI:
    """Build the application; ``GET /requests`` tells how many were answered."""
    app = FastAPI()
    answered = 0

    @app.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "healthy"}

    @app.get("/requests")
    async def requests() -> dict[str, int]:
        return {"answered": answered}

    @app.get("/v1/models")
    async def models() -> dict[str, Any]:
        return {"object": "list", "data": [{"id": NAME, "object": "model"}]}

    @app.post("/v1/chat/completions")
    async def complete(_body: dict[str, Any]) -> dict[str, Any]:
        nonlocal answered
        await asyncio.sleep(latency_s)
        answered += 1
        message = {"role": "assistant", "content": _WORDS}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {"id": str(answered), "object": "chat.completion", "model": NAME, "choices": [choice]}

    return app


def main(
    latency: Annotated[float, typer.Option(min=0, help="Seconds before an answer.")] = 1.0,
    host: Annotated[str, typer.Option()] = "127.0.0.1",
    port: Annotated[int, typer.Option()] = 0,
) -> None:
    """Serve until stopped."""
    uvicorn.run(create_app(latency), host=host, port=port, log_level="warning")


if __name__ == "__main__":
    typer.run(main)
