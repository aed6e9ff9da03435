"""Comments that silence findings, and the fingerprints that recognise a finding."""
