"""What OpenEnv knows beside the protocol: lists of tasks, and an environment for hosts that are not this server."""
