"""What the operands of one operation know of each other: shares, complements, counts."""
