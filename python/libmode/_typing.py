"""Names for annotations that are read at run time, as by ``typing.get_type_hints``."""

import sys
from typing import TYPE_CHECKING

__all__ = ["Never", "Unpack"]

if TYPE_CHECKING:
    from typing_extensions import Never, Unpack
elif sys.version_info >= (3, 11):
    from typing import Never, Unpack
else:  # Python 3.10 has them only in typing_extensions, which may not be installed
    from typing import NoReturn as Never

    class Unpack:
        """Unpack[T] is T."""

        def __class_getitem__(cls, item):
            return item
