"""Many episodes on several workers that are killed, with a disk that fills up and a model that comes and goes."""
