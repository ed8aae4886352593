/*
 * Interned strings: equal strings get equal ids. Ids are dense from 0 in order
 * of first use. Id 0 is always the empty string. Strings live as long as the
 * table.
 */
#ifndef PROF_BASE_STRTAB_H
#define PROF_BASE_STRTAB_H

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

struct strtab;

typedef uint32_t string_id;

struct strtab *strtab_new(void);
void strtab_free(struct strtab *tab);
DEFINE_CLEANUP(strtab, strtab_free)

string_id strtab_add(struct strtab *tab, const char *str);
string_id strtab_add_len(struct strtab *tab, const char *str, size_t len);
const char *strtab_get(const struct strtab *tab, string_id id);
/* Returns the length in bytes, without the NUL. */
size_t strtab_len(const struct strtab *tab, string_id id);
uint32_t strtab_count(const struct strtab *tab);
/* Returns the size of the table in bytes. */
size_t strtab_memory_bytes(const struct strtab *tab);

#endif
