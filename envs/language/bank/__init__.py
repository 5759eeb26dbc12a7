"""What customers say, as data: frames by act and by kind of fact; docs/bank.md tells how to add some."""
