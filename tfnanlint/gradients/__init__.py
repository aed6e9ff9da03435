"""Activity analysis: whether a gradient is taken through a site."""
