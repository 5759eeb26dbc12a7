"""The adaptive curriculum of a run: the gate, where it keeps what it counted, and how curricula are merged."""
