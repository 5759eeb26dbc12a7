"""Agents of RETURN."""
