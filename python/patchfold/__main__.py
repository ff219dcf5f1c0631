# SPDX-License-Identifier: Apache-2.0
"""``python -m patchfold`` is the command ``patchfold``."""

from ._command import main

if __name__ == "__main__":
    main()
