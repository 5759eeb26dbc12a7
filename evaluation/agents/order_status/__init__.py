"""Agents of STATUS."""
