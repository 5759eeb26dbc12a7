"""Agents of BUNDLE."""
