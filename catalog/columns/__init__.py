"""Products as columns: the table, its texts, values and words, and the rows that a value or category has."""
