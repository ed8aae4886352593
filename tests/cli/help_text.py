"""The options that the help of a command lists, by group."""

import re

COMMANDS = ["record", "cargo", "report", "annotate", "top", "diff", "convert", "script", "serve", "inside", "list", "doctor"]


def listed_options(text):
    """(spelling, argument) of each option that a text lists: --off-cpu[=MIN] has the argument [MIN]."""
    for heading in re.finditer(r"^ +((?:-\w, )?-{1,2}[\w-]+)(?:(\[)=| ?)(\S*)(?:\n {11}(\S+)$)?(?:  |$)", text, re.MULTILINE):
        argument = (heading[2] or "") + heading[3] + (heading[4] or "")
        yield from ((spelling, argument) for spelling in heading[1].split(", "))


def help_of_groups(prof, command):
    """The help of each group of a command, in order."""
    errors = prof(command, "--help", "nonsense").stderr
    names = re.search(r"the groups are (.*)", errors)[1].split(", ") + ["help"]
    return {name.capitalize(): prof(command, "--help", name).stdout for name in names}


def offered_options(prof, command):
    """(spelling, argument) of each option of a command, including those that another command documents."""
    return [option for text in help_of_groups(prof, command).values() for option in listed_options(text)]
