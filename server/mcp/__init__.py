"""JSON-RPC 2.0 for clients that can only call tools: OpenEnv's session methods and those of MCP."""
