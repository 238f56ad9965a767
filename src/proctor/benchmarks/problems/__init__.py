"""Programs to build from requirements: problem folders read, checked and put as samples."""
