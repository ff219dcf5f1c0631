# SPDX-License-Identifier: Apache-2.0
"""The operators, and functions that call several operators."""
