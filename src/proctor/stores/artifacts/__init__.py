"""Large bodies in a folder or in S3, as PROCTOR_ARTIFACTS_URL says."""
