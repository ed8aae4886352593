/*
 * Maps files to modules by what a mapping contains about its file: device,
 * inode, generation and name. The kernel provides these, so no file can
 * impersonate another.
 *
 * Names are part of the key because inode numbers are reused once their file is
 * deleted, and not every file system has generations. In recordings, a mapping
 * without an inode is identified by its build-id and name, or by its name
 * alone.
 */
#ifndef PROF_PROC_FILE_TABLE_H
#define PROF_PROC_FILE_TABLE_H

#include "proc/mapping.h"

#include "base/bytes.h"
#include "base/cleanup.h"

struct file_table;

struct file_table *file_table_new(void);
void file_table_free(struct file_table *table);
DEFINE_CLEANUP(file_table, file_table_free)

/*
 * Returns the id of the file, or IDMAP_NONE if it is not known. `name` is the
 * mapping's path without " (deleted)".
 */
uint32_t file_table_get(const struct file_table *table, const struct mapping *mapping,
			struct bytes name);
/* Replaces the id of the file. */
void file_table_put(struct file_table *table, const struct mapping *mapping, struct bytes name,
		    uint32_t id);
/* Forgets files whose id is at least `count` or not kept. */
void file_table_keep(struct file_table *table, const bool *kept, uint32_t count);

/* Returns the memory in use. */
size_t file_table_bytes(const struct file_table *table);

#endif
