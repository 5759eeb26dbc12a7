"""A small policy that learns on two cores: linear in features of the text, over skills that make actions."""
