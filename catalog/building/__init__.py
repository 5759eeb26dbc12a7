"""The stages of a build that keeps little in memory and can be taken up again: read, plan, write."""
