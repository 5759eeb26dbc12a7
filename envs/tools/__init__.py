"""The tools an agent may call; each is a typed argument model and a function of the world."""
