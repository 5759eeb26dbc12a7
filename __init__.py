"""EcomRLVE-GYM: verifiable shopping-assistant environments; this root exports the thin client only."""

from ecom_rlve.client import AsyncEcomEnv, EcomEnv

__all__ = ["AsyncEcomEnv", "EcomEnv"]
__version__ = "0.1.0"
