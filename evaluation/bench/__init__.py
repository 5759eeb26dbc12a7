"""`make bench`: what an episode costs in process, and what the server adds to a bare FastAPI route."""
