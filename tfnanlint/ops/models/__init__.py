"""The rows of what models are made of: layers, cells, losses, variables, training, data sets."""
