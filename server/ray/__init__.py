"""The server as an application of Ray Serve: replicas on several machines, as many as live episodes need."""
