# SPDX-License-Identifier: Apache-2.0
"""In which order somebody else's columns hold an image."""
