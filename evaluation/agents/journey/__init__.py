"""Agents of JOURNEY."""
