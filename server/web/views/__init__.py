"""What the page shows, as HTML made of plain values; nothing here knows Gradio."""
