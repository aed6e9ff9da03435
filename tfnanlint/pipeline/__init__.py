"""From files to findings and fixes: prefilter, analysis, check, cache, fix, workers."""
