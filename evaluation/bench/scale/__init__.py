"""`make bench-scale`: millions of products, built and measured."""
