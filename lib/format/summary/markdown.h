/*
 * Writes untrusted text into Markdown, so that it cannot become markup, HTML, a
 * link or a further line.
 */
#ifndef PROF_FORMAT_SUMMARY_MARKDOWN_H
#define PROF_FORMAT_SUMMARY_MARKDOWN_H

/*
 * Both functions return text that the caller frees. This one returns plain
 * text, with a backslash before each character that has a meaning in Markdown.
 */
char *markdown_text(const char *text);
/* Returns a code span, also for a cell of a table. */
char *markdown_code(const char *text);

#endif
