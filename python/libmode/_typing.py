"""A name for annotations that are read at run time, as by ``typing.get_type_hints``."""

import sys
from typing import TYPE_CHECKING

__all__ = ["Unpack"]

if TYPE_CHECKING:
    from typing_extensions import Unpack
elif sys.version_info >= (3, 11):
    from typing import Unpack
else:  # Python 3.10 has it only in typing_extensions, which may not be installed

    class Unpack:
        """Unpack[T] is T."""

        def __class_getitem__(cls, item):
            return item
