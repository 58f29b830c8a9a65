"""Read and render text: replies, prompts, Python source, tool output."""
