"""Reading what shops write: names of kinds of goods, prices, units, values of variants."""
