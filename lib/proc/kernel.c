#include "proc/kernel.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/line_reader.h"
#include "base/text.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

enum {
	NOTES_BYTES_MAX = 4096,
	/* Relevant lines are shorter. */
	LONGEST_LINE_BYTES = 1024,
};

static FILE *kernel_open_below(const char *root, const char *name)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s%s", root, name);

	return fopen(path, "re");
}

/* Example: "ffffffff81000000 T _text". */
static void kernel_take_line(const char *line, struct kernel_code *code)
{
	uint64_t address;

	if (!text_hex(&line, &address))
		return;
	if (!strcmp(line, " T _text") || !strcmp(line, " T _stext")) {
		code->start = address;
		code->symbol = !strcmp(line, " T _text") ? "_text" : "_stext";
	} else if (!strcmp(line, " T _etext")) {
		code->end = address;
	}
}

/*
 * The start is among the first symbols. The end comes after about 100,000
 * others, which the kernel takes tens of milliseconds to print.
 */
static struct kernel_code code_here(const char *root, bool want_end)
{
	CLEANUP(close_file) FILE *kallsyms = kernel_open_below(root, "/proc/kallsyms");
	CLEANUP(line_reader_deinit) struct line_reader lines;
	struct kernel_code code = {0};

	line_reader_init(&lines, kallsyms, LONGEST_LINE_BYTES, UINT64_MAX);
	while (kallsyms && !(code.symbol && (code.end || !want_end)) && line_reader_next(&lines))
		kernel_take_line(lines.line, &code);
	return code;
}

struct kernel_code kernel_code_here(const char *root)
{
	return code_here(root, true);
}

struct kernel_code kernel_start_here(const char *root)
{
	return code_here(root, false);
}

static struct bytes padded(struct bytes *from, uint32_t len)
{
	struct bytes field = bytes_sub(from, len);

	bytes_skip(from, -(size_t)len % 4);
	return field;
}

struct build_id kernel_build_id_here(const char *root)
{
	CLEANUP(close_file) FILE *file = kernel_open_below(root, "/sys/kernel/notes");
	unsigned char data[NOTES_BYTES_MAX];
	struct bytes notes = bytes_of(data, file ? fread(data, 1, sizeof(data), file) : 0);
	struct build_id id = {0};

	while (!id.len && bytes_left(&notes)) {
		uint32_t name_bytes = bytes_u32(&notes);
		uint32_t value_bytes = bytes_u32(&notes);
		uint32_t type = bytes_u32(&notes);
		struct bytes name = padded(&notes, name_bytes);
		struct bytes value = padded(&notes, value_bytes);

		if (type != NT_GNU_BUILD_ID || name_bytes != sizeof(ELF_NOTE_GNU) ||
		    memcmp(name.at, ELF_NOTE_GNU, name_bytes) != 0 || value_bytes > BUILD_ID_MAX ||
		    !bytes_ok(&value))
			continue;
		memcpy(id.bytes, value.at, value_bytes);
		id.len = value_bytes;
	}
	return id;
}

static bool kernel_differs(const char *told, const char *here)
{
	return told && strcmp(told, here) != 0;
}

static bool is_same_build(const struct kernel_mark *mark, const char *root)
{
	struct build_id here = kernel_build_id_here(root);

	return !mark->build_id.len || !here.len || build_id_equal(&mark->build_id, &here);
}

bool kernel_is_ours(const struct kernel_mark *mark, const char *root)
{
	bool is_named = mark->host && mark->release;
	struct utsname here;
	struct kernel_code code = {0};

	if (uname(&here) < 0 || kernel_differs(mark->host, here.nodename) ||
	    kernel_differs(mark->release, here.release) || !is_same_build(mark, root))
		return false;
	if (mark->start)
		code = code_here(root, !is_named);
	/*
	 * If one of the two kernels hides its addresses, the names must match.
	 */
	if (!code.start)
		return is_named;
	return code.start == mark->start && (is_named || code.end == mark->end);
}
