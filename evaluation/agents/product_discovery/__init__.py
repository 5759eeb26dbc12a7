"""Agents of PD."""
