# SPDX-License-Identifier: Apache-2.0
"""The operators, and the functions that are made of operators."""
