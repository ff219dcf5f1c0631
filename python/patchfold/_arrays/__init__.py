# SPDX-License-Identifier: Apache-2.0
"""Arrays of NumPy and of other libraries: memory, types, devices, and new arrays."""
