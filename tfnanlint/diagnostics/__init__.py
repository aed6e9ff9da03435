"""What the analysis says: findings, grades, claims, fixes, and notices about files."""
