"""Style sheet and script of the page."""
