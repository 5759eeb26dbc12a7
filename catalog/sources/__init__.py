"""Sources of products: each becomes a catalog and a report of what became of its rows."""

from ecom_rlve.catalog.sources.opening import open_catalog
from ecom_rlve.catalog.sources.report import DropReason, SourceReport

__all__ = ["DropReason", "SourceReport", "open_catalog"]
