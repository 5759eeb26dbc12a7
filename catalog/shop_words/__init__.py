"""What shops write: names of kinds, prices, units, values of variants."""
