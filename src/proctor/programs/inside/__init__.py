"""What runs inside a workspace beside the program: a server of calls, a profiler, a test runner. Standard library only.

Modules import each other relatively, because they are sent as text and loaded under another name.
"""
