"""How people seek answers: a page that records them, and the analysis of its logs (after the AVIS user study)."""
