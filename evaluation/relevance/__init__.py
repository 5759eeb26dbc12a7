"""Does a search find what is there: precision on judged queries, and recall of what customers want."""
