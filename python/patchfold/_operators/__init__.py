# SPDX-License-Identifier: Apache-2.0
"""The operators, and what is made of them."""
