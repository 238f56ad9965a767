"""What operators watch: metrics that Prometheus reads."""
