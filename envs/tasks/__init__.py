"""The environments: one package each, whose module ``environment`` exports exactly one ``ENVIRONMENT``."""
