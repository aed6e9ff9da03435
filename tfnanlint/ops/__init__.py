"""Everything known about the operations of TensorFlow: the table, sites, provenance."""
