"""Episodes: worlds, customers, tools, verifiers. Builds on the catalog and knows nothing of servers or clients."""
