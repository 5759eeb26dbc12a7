"""The turn machine: reads actions, plays turns, reports what happened, scores the end."""
