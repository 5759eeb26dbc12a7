"""For comparison: the least that a FastAPI route and a FastAPI socket can do with JSON."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, WebSocket, WebSocketDisconnect


def create_app() -> FastAPI:
    """Build the application: ``POST /echo`` and the socket ``/ws`` send back what they receive."""
    app = FastAPI()

    @app.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "healthy"}

    @app.post("/echo")
    async def echo(body: dict[str, Any]) -> dict[str, Any]:
        return body

    @app.websocket("/ws")
    async def socket(websocket: WebSocket) -> None:
        await websocket.accept()
        try:
            while True:
                await websocket.send_json(await websocket.receive_json())
        except WebSocketDisconnect:
            pass

    return app
