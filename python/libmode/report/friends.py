"""The friends of a ROOT tree, which add columns to it."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple


class Friends(NamedTuple):
    """Trees with an entry for each entry of the tree, and the reasons why others are not read."""

    trees: list[tuple[str, Any]]  #: names, and trees of uproot
    unread: list[str]  #: a phrase for each friend that is not read


def friends(path: Path, name: str, entries: int, stack: ExitStack) -> Friends:
    """The friends of the tree of this name in a file; their files stay open as long as the stack."""
    import uproot

    try:
        # uproot knows friends only with all metadata.
        tree = stack.enter_context(uproot.open(path, minimal_ttree_metadata=False))[name]
        elements = list(tree.member("fFriends", none_if_missing=True) or ())
    except Exception:  # uproot cannot read an object of the tree that nothing else needs
        return Friends([], [])
    trees, unread = [], []
    for element in elements:
        alias, file, tree_name = (str(element.member(key)) for key in ("fName", "fTitle", "fTreeName"))
        where = f"friend {alias!r} (tree {tree_name!r} of {file or path})"
        try:
            beside = path.parent / file
            place = path if not file else beside if "://" not in file and beside.exists() else file
            friend = stack.enter_context(uproot.open(place, minimal_ttree_metadata=False))[tree_name]
            if friend.member("fTreeIndex", none_if_missing=True) is not None:
                unread.append(f"{where} is matched by an index: merge the trees, for instance with RDataFrame.Snapshot")
            elif friend.num_entries != entries:
                unread.append(f"{where} has {friend.num_entries} entries in place of {entries}")
            else:
                trees.append((alias, friend))
        except Exception as error:  # of uproot, which have no common class
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            unread.append(f"{where} cannot be read: {reason}")
    return Friends(trees, unread)
