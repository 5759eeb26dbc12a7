"""Reading facts out of what customers say, by the frames that they say them with."""
