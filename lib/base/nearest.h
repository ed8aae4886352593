/*
 * Suggestions for misspelt words: "did you mean ...?"
 */
#ifndef PROF_BASE_NEAREST_H
#define PROF_BASE_NEAREST_H

/*
 * The candidate with the smallest Levenshtein distance to word, or NULL if none is close: a third
 * of the letters and one more may differ. candidates ends with NULL; those of 64 bytes and more are
 * ignored.
 */
const char *nearest(const char *word, const char *const *candidates);

#endif
