"""What operators watch: metrics for Prometheus, logs as JSON lines, and traces."""
