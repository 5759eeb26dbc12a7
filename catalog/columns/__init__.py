"""Products as columns: the table, its texts, values and words, and which rows have a value or a category."""
