"""POLICY: answer a question from the store's policy book."""
