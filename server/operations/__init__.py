"""What an operator sees and does: figures of requests and of the process, log lines, readiness, and the drain."""
