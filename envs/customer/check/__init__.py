"""Places in a message that code fills, and the check of the words around them."""
