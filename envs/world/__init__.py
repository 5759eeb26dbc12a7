"""The world of an episode: its shop, stock, orders, returns and variants."""
