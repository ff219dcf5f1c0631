# SPDX-License-Identifier: Apache-2.0
"""Finds the order in which columns of any system hold an image."""
