"""Text search with exact filters over a catalog, and the stages that build it."""
