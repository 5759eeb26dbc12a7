"""Errors of the catalog layer.

CatalogError
├── SourceError            a file or row cannot be read as products
├── UnknownProductError    no product has this id
├── UnknownAttributeError  no column has this name
├── IndexMismatchError     an index belongs to another catalog, or is empty
└── StoreError             a folder is no complete catalog, or none can be written there
"""

from __future__ import annotations


class CatalogError(Exception):
    """Something is wrong with a catalog, a source of products or an index."""


class SourceError(CatalogError):
    """A source of products cannot be read; the message names the file, the line and the remedy."""


class UnknownProductError(CatalogError):
    """No product of the catalog has the given id."""


class UnknownAttributeError(CatalogError):
    """No column of the catalog has the given name."""


class IndexMismatchError(CatalogError):
    """A search index was built for another catalog, or holds no vectors."""


class StoreError(CatalogError):
    """A folder is not a catalog that this version can open, or a catalog cannot be built there; names the remedy."""
