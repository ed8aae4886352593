/*
 * Which module a mapping's file is, by what the mapping itself says of the file: device, inode, its
 * generation and its name. The kernel says these, so no file can claim them for another.
 *
 * Names count because an inode number is reused as soon as its file is deleted, and not every file
 * system has generations. A mapping without an inode, of a recording, is known by its build-id and
 * name; one without either, by its name.
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

/* name: the mapping's path without " (deleted)". IDMAP_NONE if the file is not known. */
uint32_t file_table_get(const struct file_table *table, const struct mapping *mapping,
			struct bytes name);
/* Replaces what was known of the file. */
void file_table_put(struct file_table *table, const struct mapping *mapping, struct bytes name,
		    uint32_t id);
/* Forgets the files whose id is not below count or not kept. */
void file_table_keep(struct file_table *table, const bool *kept, uint32_t count);

/* The memory in use. */
size_t file_table_bytes(const struct file_table *table);

#endif
