"""CART: fill the cart with what the customer describes."""
