"""HTML pages: safe markup, the frame and the style sheet of every page, and the server of those made with gradio."""
