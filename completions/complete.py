"""Makes the completions of a shell: complete.py bash|zsh|fish TABLES OUTPUT

TABLES is what list_options prints: the option tables."""

import re
import sys
from dataclasses import dataclass, field


@dataclass
class Option:
    letter: str
    name: str
    argument: str
    help: str
    formats: list

    @property
    def spellings(self):
        return [f"-{self.letter}"] * bool(self.letter) + [f"--{self.name}"] * bool(self.name)

    @property
    def summary(self):
        """The part of the help that can be understood alone."""
        return self.help.partition("; ")[0]

    @property
    def takes_word(self):
        """An argument that may be missing is part of the option's own word."""
        return bool(self.argument) and not self.argument.startswith("[")

    @property
    def kind(self):
        """What completes the argument: files, directories, processes, users, words or nothing."""
        kinds = {"FILE": "files", "DIR": "directories", "PID": "processes", "USER": "users", "FORMAT": "words"}
        found = kinds.get(re.match(r"[A-Z]*", self.argument)[0])
        return found or ("words" if self.words else "nothing")

    @property
    def words(self):
        """The choices: auto|dwarf[,SIZE]|N are auto and dwarf."""
        if self.argument == "FORMAT":
            return self.formats
        beginnings = [re.match(r"[a-z]*:?", choice)[0] for choice in self.argument.split("|")]
        return [word for word in beginnings if word]


@dataclass
class Command:
    name: str
    runs_command: bool
    first_words: str
    summary: str
    formats: list = field(default_factory=list)
    options: list = field(default_factory=list)


def read_tables(lines):
    commands = []
    for kind, *fields in (line.split("\t") for line in lines):
        if kind == "command":
            commands.append(Command(fields[0], fields[1] == "COMMAND", fields[2], fields[3]))
        elif kind == "option":
            commands[-1].options.append(Option(*fields, commands[-1].formats))
        else:
            commands[-1].formats.append(fields[0])
    for command in commands:
        command.options.append(Option("h", "", "", "print the common options and examples", []))
        command.options.append(Option("", "help", "", "print all options", []))
    return commands


# ---- bash ------------------------------------------------------------------------------------------

BASH = r"""# bash completion for prof, made from its option tables

# Sets kind to what completes the value of an option, or to nothing where it takes none.
_prof_value() # COMMAND OPTION
{
	case "$1 $2" in
@VALUES@
	*) kind= ;;
	esac
}

_prof_candidates() # KIND WORD
{
	case $1 in
	files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
	directories) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
	processes) mapfile -t COMPREPLY < <(compgen -W "$(cd /proc && echo [0-9]*)" -- "$2") ;;
	users) mapfile -t COMPREPLY < <(compgen -u -- "$2") ;;
	words) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$2") ;;
	commands) mapfile -t COMPREPLY < <(compgen -c -- "$2") ;;
	esac
}

# The index of the first word of the command that is run, or of none before the cursor.
_prof_run_word() # COMMAND
{
	local word
	for ((run = 2; run < COMP_CWORD; run++)); do
		word=${COMP_WORDS[run]}
		case $word in
		--) ((run++)); return ;;
		-*)
			_prof_value "$1" "$word"
			if [ "${COMP_WORDS[run + 1]}" = = ]; then
				((run += 2))
			elif [ -n "$kind" ]; then
				((run++))
			fi
			;;
		*) return ;;
		esac
	done
}

# Completes the name of the command to run. Uses first and current of its caller.
_prof_first_word()
{
	if [ -n "$first" ]; then
		words=$first
		_prof_candidates words "$current"
	else
		_prof_candidates commands "$current"
	fi
}

_prof()
{
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
	local commands='@COMMANDS@' options kind words run first=

	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		words="$commands help --help --version"
		_prof_candidates words "$current"
		return
	fi
	case $command in
@OPTIONS@
	help) words=$commands; _prof_candidates words "$current"; return ;;
	*) return ;;
	esac
	case $command in @RUNNING@)
		_prof_run_word "$command"
		if [ "$run" -lt "$COMP_CWORD" ] && [ -z "$first" ] && declare -F _command_offset > /dev/null; then
			_command_offset "$run"
			return
		elif [ "$run" -lt "$COMP_CWORD" ]; then
			_prof_candidates files "$current"
			return
		elif [ "$run" = "$COMP_CWORD" ] && [ "$previous" = -- ]; then
			_prof_first_word
			return
		fi
		;;
	esac
	# --option=value is three words.
	if [ "$current" = = ]; then
		current=
	elif [ "$previous" = = ]; then
		previous=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	_prof_value "$command" "$previous"
	if [ -n "$kind" ]; then
		_prof_candidates "$kind" "$current"
	elif [[ $current == -* ]]; then
		words=$options
		_prof_candidates words "$current"
	else
		case $command in
		@RUNNING@) _prof_first_word ;;
		*) _prof_candidates files "$current" ;;
		esac
	fi
}
complete -F _prof prof
"""


def bash(commands):
    values, options = [], []
    for command in commands:
        for option in command.options:
            if option.takes_word:
                names = " | ".join(f'"{command.name} {spelling}"' for spelling in option.spellings)
                words = f" words='{' '.join(option.words)}'" if option.kind == "words" else ""
                values.append(f"\t{names}) kind={option.kind}{words} ;;")
        names = " ".join(spelling for option in command.options for spelling in option.spellings)
        options.append(f"\t{command.name}) options='{names}'" + f" first='{command.first_words}'" * bool(command.first_words) + " ;;")
    return (BASH.replace("@VALUES@", "\n".join(values)).replace("@OPTIONS@", "\n".join(options))
            .replace("@COMMANDS@", " ".join(command.name for command in commands))
            .replace("@RUNNING@", " | ".join(command.name for command in commands if command.runs_command)))


# ---- zsh -------------------------------------------------------------------------------------------

ZSH = r"""#compdef prof
# zsh completion for prof, made from its option tables

_prof_commands() {
	local -a commands=(
@COMMANDS@
	)
	_describe -t commands 'prof command' commands
}

_prof() {
	local curcontext="$curcontext" state line
	typeset -A opt_args

	_arguments -C '(- *)'{-h,--help}'[print this help]' '(- *)--version[print the version]' \
		'1: :_prof_commands' '*::argument:->argument' && return
	case $words[1] in
@CASES@
	help) _arguments '1: :_prof_commands' ;;
	esac
}

_prof "$@"
"""

ZSH_ACTIONS = {"files": "_files", "directories": "_files -/", "processes": "_pids", "users": "_users", "nothing": " "}


def zsh_quoted(text):
    return "'" + text.replace("'", r"'\''") + "'"


def zsh_spec(option):
    text = re.sub(r"([\[\]:\\])", r"\\\1", option.summary)
    specs = []
    for spelling in option.spellings:
        spec = spelling
        if option.takes_word:
            spec += "=" if spelling.startswith("--") else "+"
        elif option.argument:
            spec += "-"
        spec += f"[{text}]"
        if option.argument:
            action = f"({' '.join(option.words)})".replace(":", r"\:") if option.kind == "words" else ZSH_ACTIONS[option.kind]
            what = re.sub(r"([:\\])", r"\\\1", option.argument)
            spec += f"{'' if option.takes_word else ':'}:{what}:{action}"
        specs.append(zsh_quoted("*" + spec))
    return specs


def zsh(commands):
    cases = []
    for command in commands:
        specs = [spec for option in command.options for spec in zsh_spec(option)]
        if command.first_words:
            head, rest = "_arguments -s -S -A '-*'", [f"'(-)1: :({command.first_words})'", "'*: :_files'"]
        elif command.runs_command:
            head, rest = "_arguments -s -S -A '-*'", ["'(-)1: :_command_names -e'", "'*::argument:_normal'"]
        else:
            head, rest = "_arguments -s -S", ["'*: :_files'"]
        cases.append(f"\t{command.name})\n\t\t" + " \\\n\t\t\t".join([head, *specs, *rest]) + " ;;")
    described = [f"\t\t{zsh_quoted(command.name + ':' + command.summary.replace(':', chr(92) + ':'))}" for command in commands]
    return ZSH.replace("@COMMANDS@", "\n".join(described)).replace("@CASES@", "\n".join(cases))


# ---- fish ------------------------------------------------------------------------------------------

FISH = r"""# fish completion for prof, made from its option tables

# Is the cursor among the options of this command, before the command that it runs?
function __prof_in # COMMAND [OPTION WITH A VALUE ...]
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test $words[2] = $argv[1]; or return 1
    set -l skip 0
    for word in $words[3..-1]
        if test $skip = 1
            set skip 0
        else if test "$word" = --
            return 1
        else if string match -q -- '-*' "$word"
            contains -- "$word" $argv[2..-1]; and set skip 1
        else if contains -- $argv[1] @RUNNING@
            return 1
        end
    end
end

complete -c prof -f -n __fish_use_subcommand -a help -d 'print the help of a command'
complete -c prof -f -n __fish_use_subcommand -l help -d 'print this help'
complete -c prof -f -n __fish_use_subcommand -l version -d 'print the version'
complete -c prof -x -n '__fish_seen_subcommand_from help' -a '@COMMANDS@'
"""

FISH_ACTIONS = {"files": "-r -F", "directories": "-x -a '(__fish_complete_directories)'",
                "processes": "-x -a '(__fish_complete_pids)'", "users": "-x -a '(__fish_complete_users)'", "nothing": "-x"}


def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", r"\'") + "'"


def fish_command(command):
    valued = " ".join(spelling for option in command.options if option.takes_word for spelling in option.spellings)
    yield f"complete -c prof -f -n __fish_use_subcommand -a {command.name} -d {fish_quoted(command.summary)}"
    yield f"function __prof_in_{command.name}\n    __prof_in {command.name} {valued}\nend"
    if command.first_words:
        yield f"complete -c prof -f -n __prof_in_{command.name} -a {fish_quoted(command.first_words)}"
    elif command.runs_command:
        yield (f"complete -c prof -x -n '__fish_seen_subcommand_from {command.name}' "
               f"-a '(__fish_complete_subcommand --fcs-skip=2 {valued})'")
    for option in command.options:
        words = ["complete -c prof", f"-n __prof_in_{command.name}"]
        words += [f"-s {option.letter}"] * bool(option.letter) + [f"-l {option.name}"] * bool(option.name)
        if option.takes_word:
            words.append(f"-x -a {fish_quoted(' '.join(option.words))}" if option.kind == "words" else FISH_ACTIONS[option.kind])
        yield " ".join([*words, "-d", fish_quoted(option.summary)])


def fish(commands):
    lines = [line for command in commands for line in fish_command(command)]
    return (FISH.replace("@COMMANDS@", " ".join(command.name for command in commands))
            .replace("@RUNNING@", " ".join(command.name for command in commands if command.runs_command))
            + "\n".join(lines) + "\n")


def main(shell, tables, output):
    with open(tables, encoding="utf-8") as file:
        commands = read_tables(file.read().splitlines())
    with open(output, "w", encoding="utf-8") as file:
        file.write({"bash": bash, "zsh": zsh, "fish": fish}[shell](commands))


main(*sys.argv[1:])
