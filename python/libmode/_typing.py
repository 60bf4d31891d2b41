"""What annotations need when they are read, as by ``typing.get_type_hints``."""

import sys
from typing import TYPE_CHECKING

__all__ = ["Never", "Unpack"]

if TYPE_CHECKING:
    from typing_extensions import Never, Unpack
elif sys.version_info >= (3, 11):
    from typing import Never, Unpack
else:  # which Python 3.10 has only in a package that need not be installed
    from typing import NoReturn as Never

    class Unpack:
        """Shows what it holds."""

        def __class_getitem__(cls, held):
            return held
