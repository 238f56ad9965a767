"""What runs outside the harness: supervisor, warm parents, judge and judged. Standard library only.

Modules import each other relatively, because they are also loaded as the top-level package `inside`.
"""
