"""Episodes: worlds, customers, tools, verifiers. Knows the catalog; knows nothing of servers or clients."""
