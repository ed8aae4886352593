/* A word of a command that the user may copy. */
#ifndef PROF_CMD_SHELL_WORD_H
#define PROF_CMD_SHELL_WORD_H

/* The text, quoted where a shell would not take it for one word; the caller frees it. */
char *shell_word(const char *text);

#endif
