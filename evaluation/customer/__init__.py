"""How the simulated customer speaks and hears, measured."""
