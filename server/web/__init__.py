"""The page at /web, where people play, watch and look around; needs the extra ``web``."""
