"""Settings for the property tests of this folder."""

from hypothesis import settings

# A busy machine must not decide a test.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
