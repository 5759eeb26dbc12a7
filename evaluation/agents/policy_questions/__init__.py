"""Agents of POLICY."""
