"""The environments, one file each; every module here exports exactly one as ``ENVIRONMENT``."""
