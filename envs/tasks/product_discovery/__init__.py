"""PD: find products that fit."""
