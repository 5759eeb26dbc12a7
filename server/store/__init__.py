"""The store: runs, frontiers, groups and counted episodes in an SQLite file that survives the process."""
