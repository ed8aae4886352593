/*
 * Quotes a word of a command that the user may copy.
 */
#ifndef PROF_BASE_SHELL_WORD_H
#define PROF_BASE_SHELL_WORD_H

/*
 * Returns the text, quoted if a shell would not treat it as one word. The
 * caller frees it.
 */
char *shell_word(const char *text);

#endif
