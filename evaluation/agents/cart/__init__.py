"""Agents of CART."""
