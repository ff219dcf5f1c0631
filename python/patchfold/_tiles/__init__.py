# SPDX-License-Identifier: Apache-2.0
"""Overlapping tiles: their places, and the merge of their results into one array."""
