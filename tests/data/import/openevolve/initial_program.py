"""A line through some points: the evaluator calls fit()."""


# EVOLVE-BLOCK-START
def fit():
    slope = 1.0
    offset = 0.0
    return slope, offset
# EVOLVE-BLOCK-END
