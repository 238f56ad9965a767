"""Programs that are handed in, and scorecards: of submissions, of trials and of files."""
