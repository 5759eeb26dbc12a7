"""The server: HTTP, WebSocket and JSON-RPC over live episodes; it knows no task by name."""
