"""Large bodies in a folder or in S3, as PROCTOR_ARTIFACTS_URL says."""

VARIABLE = "PROCTOR_ARTIFACTS_URL"
S3_SCHEME = "s3://"
