"""Who comes in and how far: connections, time limits, hosts, tokens and their scopes, leases."""
