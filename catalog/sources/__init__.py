"""Sources of products, in files and on the hub, as rows of one shape."""

from ecom_rlve.catalog.rows.report import DropReason, SourceReport
from ecom_rlve.catalog.sources.opening import open_catalog, row_source
from ecom_rlve.catalog.sources.source import RowSource

__all__ = ["DropReason", "RowSource", "SourceReport", "open_catalog", "row_source"]
