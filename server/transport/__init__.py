"""How requests arrive: HTTP routes, WebSocket, JSON-RPC, limits, tokens."""
