"""From a sentence to a plan: words become phrases, phrases become what a plan says."""
