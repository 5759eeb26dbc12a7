"""Words and phrases that a wording may hold around its places."""
