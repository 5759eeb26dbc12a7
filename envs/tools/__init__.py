"""The tools that an agent may call; each has a typed argument model and is a function of the world."""
