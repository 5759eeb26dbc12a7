"""The stages of a build, which needs little memory and can be continued after a kill: read, plan, write."""
