"""Third-party packages of programs: locked, fetched outside without running any of their code, unpacked inside."""
