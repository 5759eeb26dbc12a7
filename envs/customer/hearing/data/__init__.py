"""The weights of the classifier of questions."""
