"""Reports: the figures of one run or several, as one HTML file and as Markdown."""
