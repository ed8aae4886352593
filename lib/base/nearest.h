/*
 * Suggestions for misspelt words: "did you mean ...?"
 */
#ifndef PROF_BASE_NEAREST_H
#define PROF_BASE_NEAREST_H

/*
 * Returns the candidate with the smallest Levenshtein distance to word, or NULL
 * if none is close: the distance may be a third of the letters plus one.
 * candidates is NULL-terminated; candidates of 64 bytes and more are ignored.
 */
const char *nearest(const char *word, const char *const *candidates);

#endif
