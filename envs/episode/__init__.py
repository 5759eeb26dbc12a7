"""The turn machine: reading actions, playing a turn, telling what happened, scoring the end."""
