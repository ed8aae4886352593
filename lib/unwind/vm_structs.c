#include "unwind/vm_structs.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/cleanup.h"

#include <elf.h>
#include <string.h>

/* Limits well above the tables of real versions of libjvm. */
enum { SYMBOL_TABLE_BYTES_MAX = 4 << 20, ENTRIES_MAX = 8192, STRIDE_MAX = 256 };
/* Larger than the longest name that is needed, and than the largest type. */
enum { VM_STRUCTS_NAME_ROOM = 48, OFFSET_MAX = 4096 };

enum symbol {
	STRUCTS,
	STRUCTS_STRIDE,
	STRUCTS_TYPE,
	STRUCTS_FIELD,
	STRUCTS_TYPE_STRING,
	STRUCTS_OFFSET,
	STRUCTS_ADDRESS,
	TYPES,
	TYPES_STRIDE,
	TYPES_NAME,
	TYPES_SIZE,
};

static const char *const symbol_names[VM_SYMBOLS] = {
	[STRUCTS] = "gHotSpotVMStructs",
	[STRUCTS_STRIDE] = "gHotSpotVMStructEntryArrayStride",
	[STRUCTS_TYPE] = "gHotSpotVMStructEntryTypeNameOffset",
	[STRUCTS_FIELD] = "gHotSpotVMStructEntryFieldNameOffset",
	[STRUCTS_TYPE_STRING] = "gHotSpotVMStructEntryTypeStringOffset",
	[STRUCTS_OFFSET] = "gHotSpotVMStructEntryOffsetOffset",
	[STRUCTS_ADDRESS] = "gHotSpotVMStructEntryAddressOffset",
	[TYPES] = "gHotSpotVMTypes",
	[TYPES_STRIDE] = "gHotSpotVMTypeEntryArrayStride",
	[TYPES_NAME] = "gHotSpotVMTypeEntryTypeNameOffset",
	[TYPES_SIZE] = "gHotSpotVMTypeEntrySizeOffset",
};

static const struct field {
	const char *type, *name;
	size_t member; /* offset in struct vm_layout */
	bool is_static, is_optional;
} fields[] = {
	{"CodeCache", "_heaps", offsetof(struct vm_layout, code_cache_heaps), true, false},
	{"GrowableArrayBase", "_len", offsetof(struct vm_layout, array_length), false, false},
	{"GenericGrowableArray", "_len", offsetof(struct vm_layout, array_length), false, true},
	{"GrowableArray<int>", "_data", offsetof(struct vm_layout, array_data), false, false},
	{"CodeHeap", "_memory", offsetof(struct vm_layout, heap_memory), false, false},
	{"CodeHeap", "_segmap", offsetof(struct vm_layout, heap_segment_map), false, false},
	{"CodeHeap", "_log2_segment_size", offsetof(struct vm_layout, heap_segment_log2), false,
	 false},
	{"VirtualSpace", "_low", offsetof(struct vm_layout, space_low), false, false},
	{"VirtualSpace", "_high", offsetof(struct vm_layout, space_high), false, false},
	{"HeapBlock::Header", "_length", offsetof(struct vm_layout, block_length), false, false},
	{"HeapBlock::Header", "_used", offsetof(struct vm_layout, block_used), false, false},
	{"CodeBlob", "_name", offsetof(struct vm_layout, blob_name), false, false},
	{"CodeBlob", "_size", offsetof(struct vm_layout, blob_size), false, false},
	{"CodeBlob", "_frame_complete_offset", offsetof(struct vm_layout, blob_frame_complete),
	 false, false},
	{"CodeBlob", "_frame_size", offsetof(struct vm_layout, blob_frame_words), false, false},
	{"CodeBlob", "_code_begin", offsetof(struct vm_layout, blob_code_begin), false, true},
	{"CodeBlob", "_code_offset", offsetof(struct vm_layout, blob_code_offset), false, true},
	{"AbstractInterpreter", "_code", offsetof(struct vm_layout, interpreter_code), true, true},
	{"StubQueue", "_stub_buffer", offsetof(struct vm_layout, queue_buffer), false, true},
	{"StubQueue", "_queue_end", offsetof(struct vm_layout, queue_end), false, true},
	{"InterpreterCodelet", "_size", offsetof(struct vm_layout, codelet_size), false, true},
	{"InterpreterCodelet", "_description", offsetof(struct vm_layout, codelet_description),
	 false, true},
};

bool vm_read_u64(const struct vm_memory *memory, uint64_t address, uint64_t *ret)
{
	return memory->read(memory, address, ret, sizeof(*ret));
}

bool vm_read_string(const struct vm_memory *memory, uint64_t address, char *into, size_t room)
{
	size_t len = room - 1;

	/* The string may end just before memory that cannot be read. */
	while (len && !memory->read(memory, address, into, len))
		len /= 2;
	into[len] = '\0';
	return len != 0;
}

/* --- The symbols ---------------------------------------------------------- */

static void note_symbol(struct vm_symbols *symbols, const char *name, uint64_t vaddr)
{
	for (unsigned i = 0; i < VM_SYMBOLS; i++)
		if (strcmp(name, symbol_names[i]) == 0)
			symbols->vaddrs[i] = vaddr;
}

bool vm_symbols_find(struct elf_file *libjvm, struct vm_symbols *ret)
{
	CLEANUP(free_ptr) void *symbols = NULL;
	CLEANUP(free_ptr) void *strings = NULL;
	struct elf_section symtab, strtab;

	*ret = (struct vm_symbols){0};
	if (elf_file_is_32(libjvm) ||
	    !elf_file_copy_section(libjvm, ".dynsym", SYMBOL_TABLE_BYTES_MAX, &symtab, &symbols) ||
	    !elf_file_copy_section(libjvm, ".dynstr", SYMBOL_TABLE_BYTES_MAX, &strtab, &strings))
		return false;
	while (bytes_left(&symtab.data) >= sizeof(Elf64_Sym)) {
		struct bytes name;
		Elf64_Sym symbol;

		memcpy(&symbol, bytes_take(&symtab.data, sizeof(symbol)), sizeof(symbol));
		name = bytes_at(strtab.data, symbol.st_name);
		if (memchr(name.at, '\0', bytes_left(&name)))
			note_symbol(ret, (const char *)name.at, symbol.st_value);
	}
	for (unsigned i = 0; i < VM_SYMBOLS; i++)
		if (!ret->vaddrs[i])
			return false;
	return true;
}

/* --- The tables ----------------------------------------------------------- */

/*
 * The exported variables. Each contains the start of a table or an offset in
 * its entries.
 */
struct tables {
	const struct vm_memory *memory;
	uint64_t values[VM_SYMBOLS];
};

static bool read_values(struct tables *tables, const struct vm_symbols *symbols, uint64_t bias)
{
	for (unsigned i = 0; i < VM_SYMBOLS; i++) {
		if (!vm_read_u64(tables->memory, symbols->vaddrs[i] + bias, &tables->values[i]))
			return false;
		if (i != STRUCTS && i != TYPES && tables->values[i] > STRIDE_MAX - 8)
			return false;
	}
	return tables->values[STRUCTS_STRIDE] >= 8 && tables->values[TYPES_STRIDE] >= 8;
}

/* Returns a word of an entry, or 0 if the entry does not contain it. */
static uint64_t word_of(const struct tables *tables, const unsigned char *entry, enum symbol offset)
{
	struct bytes at = bytes_at(bytes_of(entry, STRIDE_MAX), tables->values[offset]);

	return bytes_u64(&at);
}

static bool vm_structs_has_name(const struct tables *tables, uint64_t address, const char *name)
{
	char text[VM_STRUCTS_NAME_ROOM];

	return vm_read_string(tables->memory, address, text, sizeof(text)) &&
	       strcmp(text, name) == 0;
}

static uint8_t integer_bytes(const struct tables *tables, uint64_t type)
{
	static const struct {
		const char *name;
		uint8_t bytes;
	} types[] = {{"int", 4},      {"uint32_t", 4}, {"uint", 4}, {"size_t", 8}, {"int16_t", 2},
		     {"uint16_t", 2}, {"u2", 2},       {"bool", 1}, {"u1", 1}};
	char text[VM_STRUCTS_NAME_ROOM];

	if (!vm_read_string(tables->memory, type, text, sizeof(text)))
		return 0;
	for (unsigned i = 0; i < ARRAY_SIZE(types); i++)
		if (strcmp(text, types[i].name) == 0)
			return types[i].bytes;
	return 0;
}

static struct vm_field *vm_structs_member_of(struct vm_layout *layout, const struct field *field)
{
	return (struct vm_field *)((char *)layout + field->member);
}

static void note_field(const struct tables *tables, const unsigned char *entry,
		       const struct field *field, struct vm_layout *layout)
{
	uint64_t at = word_of(tables, entry, field->is_static ? STRUCTS_ADDRESS : STRUCTS_OFFSET);

	if (!field->is_static && at > OFFSET_MAX)
		return;
	*vm_structs_member_of(layout, field) = (struct vm_field){
		.at = at,
		.bytes = integer_bytes(tables, word_of(tables, entry, STRUCTS_TYPE_STRING)),
		.is_known = true,
	};
}

static void note_entry(const struct tables *tables, const unsigned char *entry,
		       struct vm_layout *layout)
{
	char type[VM_STRUCTS_NAME_ROOM], name[VM_STRUCTS_NAME_ROOM];
	bool has_read_name = false;

	if (!vm_read_string(tables->memory, word_of(tables, entry, STRUCTS_TYPE), type,
			    sizeof(type)))
		return;
	for (unsigned i = 0; i < ARRAY_SIZE(fields); i++) {
		if (strcmp(type, fields[i].type) != 0)
			continue;
		if (!has_read_name &&
		    !vm_read_string(tables->memory, word_of(tables, entry, STRUCTS_FIELD), name,
				    sizeof(name)))
			return;
		has_read_name = true;
		if (strcmp(name, fields[i].name) == 0)
			note_field(tables, entry, &fields[i], layout);
	}
}

/*
 * Reads an entry of a table. Returns false after the last one, which has no
 * name.
 */
static bool vm_structs_read_entry(const struct tables *tables, enum symbol table,
				  enum symbol stride, unsigned index,
				  unsigned char entry[STRIDE_MAX])
{
	uint64_t address = tables->values[table] + index * tables->values[stride];

	memset(entry, 0, STRIDE_MAX);
	return tables->memory->read(tables->memory, address, entry, tables->values[stride]);
}

static void vm_structs_read_fields(const struct tables *tables, struct vm_layout *layout)
{
	unsigned char entry[STRIDE_MAX];

	for (unsigned i = 0; i < ENTRIES_MAX; i++) {
		if (!vm_structs_read_entry(tables, STRUCTS, STRUCTS_STRIDE, i, entry) ||
		    !word_of(tables, entry, STRUCTS_FIELD))
			return;
		note_entry(tables, entry, layout);
	}
}

static bool read_block_bytes(const struct tables *tables, struct vm_layout *layout)
{
	unsigned char entry[STRIDE_MAX];

	for (unsigned i = 0; i < ENTRIES_MAX; i++) {
		uint64_t name;

		if (!vm_structs_read_entry(tables, TYPES, TYPES_STRIDE, i, entry))
			return false;
		name = word_of(tables, entry, TYPES_NAME);
		if (!name)
			return false;
		if (!vm_structs_has_name(tables, name, "HeapBlock"))
			continue;
		layout->block_bytes = word_of(tables, entry, TYPES_SIZE);
		return layout->block_bytes && layout->block_bytes <= OFFSET_MAX;
	}
	return false;
}

bool vm_layout_read(const struct vm_memory *memory, const struct vm_symbols *symbols, uint64_t bias,
		    struct vm_layout *ret)
{
	struct tables tables = {.memory = memory};

	*ret = (struct vm_layout){0};
	if (!read_values(&tables, symbols, bias))
		return false;
	vm_structs_read_fields(&tables, ret);
	for (unsigned i = 0; i < ARRAY_SIZE(fields); i++)
		if (!fields[i].is_optional && !vm_structs_member_of(ret, &fields[i])->is_known)
			return false;
	return (ret->blob_code_begin.is_known || ret->blob_code_offset.is_known) &&
	       ret->block_length.bytes && ret->blob_frame_complete.bytes &&
	       read_block_bytes(&tables, ret);
}
