"""What several tests of deployments are given."""

from deploy.made_images import machine, own_image

__all__ = ["machine", "own_image"]
