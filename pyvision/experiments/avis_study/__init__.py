"""How people seek an answer: a page that records them, and what is made of its logs (after the AVIS user study)."""
