"""The tab where one watches an episode: a built-in agent's, a connected model's, or a recorded one."""
