"""Agents of SUB."""
