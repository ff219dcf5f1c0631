# SPDX-License-Identifier: Apache-2.0
"""What a model can be refused for."""


class ModelError(ValueError):
    """A model that cannot be read, or that cannot be written for a target. The text names the node or the tensor."""
