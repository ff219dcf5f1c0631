# SPDX-License-Identifier: Apache-2.0
"""Overlapping tiles: where they lie, and how their results become one array."""
