"""The language model that may word the customer: endpoint, prompts, cassette, circuit breaker."""
