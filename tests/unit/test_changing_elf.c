/*
 * The owner of a file writes to it while prof reads it. Whatever values a name,
 * a size or a header takes between two reads, prof must stay within its memory.
 * The address sanitizer finds errors; without it only crashes fail the test.
 */
#include "base/alloc.h"
#include "base/signals.h"
#include "built_elf.h"
#include "symbol/engine.h"
#include "unit_test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <zlib.h>

/* DWARF 5, chapter 7. Tests cannot include elfutils' header. */
enum {
	COMPILE_UNIT = 0x11,
	FUNCTION = 0x2e,
	NAMESPACE = 0x39,
	NAME = 0x03,
	STMT_LIST = 0x10,
	LOW_PC = 0x11,
	HIGH_PC = 0x12,
	LANGUAGE = 0x13,
	ADDR = 0x01,
	DATA8 = 0x07,
	DATA2 = 0x05,
	STRP = 0x0e,
	SEC_OFFSET = 0x17,
	LANG_CPP = 0x1a,
};

enum { CODE = 0x1000, CODE_BYTES = 0x100, LONG_NAME_BYTES = 12000, STRINGS_BYTES = 14000 };

/* Offsets in .debug_str. */
enum { UNIT_NAME = 1, FUNCTION_NAME = 10, SPACE_NAME = 100 };

struct buffer {
	unsigned char data[512];
	size_t len;
};

static void put(struct buffer *to, uint64_t value, unsigned size_bytes)
{
	assert_true(to->len + size_bytes <= sizeof(to->data));
	memcpy(&to->data[to->len], &value, size_bytes);
	to->len += size_bytes;
}

static void put_all(struct buffer *to, const uint8_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put(to, values[i], 1);
}

static struct buffer abbrevs(void)
{
	static const uint8_t all[] = {
		1,    COMPILE_UNIT, 1,	   NAME,    STRP,  LANGUAGE, DATA2,	LOW_PC,
		ADDR, HIGH_PC,	    DATA8, 0,	    0,	   2,	     NAMESPACE, 1,
		NAME, STRP,	    0,	   0,	    3,	   FUNCTION, 0,		NAME,
		STRP, LOW_PC,	    ADDR,  HIGH_PC, DATA8, 0,	     0,		0,
	};
	struct buffer buffer = {.len = 0};

	put_all(&buffer, all, sizeof(all));
	return buffer;
}

/* A C++ function in a namespace, so that its name is built from two names. */
static struct buffer info(void)
{
	struct buffer to = {.len = 0};
	uint32_t length;

	put(&to, 0, 4);
	put(&to, 4, 2); /* version */
	put(&to, 0, 4); /* abbreviations */
	put(&to, 8, 1); /* bytes of an address */
	put(&to, 1, 1);
	put(&to, UNIT_NAME, 4);
	put(&to, LANG_CPP, 2);
	put(&to, CODE, 8);
	put(&to, CODE_BYTES, 8);
	put(&to, 2, 1);
	put(&to, SPACE_NAME, 4);
	put(&to, 3, 1);
	put(&to, FUNCTION_NAME, 4);
	put(&to, CODE, 8);
	put(&to, CODE_BYTES, 8);
	put(&to, 0, 2);
	length = (uint32_t)to.len - 4;
	memcpy(to.data, &length, 4);
	return to;
}

/* An ELF file that a thread writes to. */
struct changing_file {
	unsigned char *shared; /* mapping of the owner */
	size_t len;
	int fd;
	struct built_elf original;
	size_t at; /* offset of a value that alternates; 0 if any byte may change */
	uint64_t values[2];
	unsigned value_bytes;
	atomic_bool stop;
	pthread_t thread;
};

static void add_section(struct built_elf *file, const char *name, const void *data, size_t len)
{
	built_elf_section(file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, name, data, len);
}

static void add_packed(struct built_elf *file, const char *name, const void *data, size_t len)
{
	unsigned char packed[1000];
	const Elf64_Chdr header = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = len};
	uLongf packed_len = sizeof(packed) - sizeof(header);

	memcpy(packed, &header, sizeof(header));
	assert_int_equal(compress(packed + sizeof(header), &packed_len, data, len), Z_OK);
	built_elf_section(file, (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_flags = SHF_COMPRESSED},
			  name, packed, sizeof(header) + packed_len);
}

/* Many symbols at one address, so that they are sorted by name. */
static void add_symbols(struct built_elf *file)
{
	enum { COUNT = 40 };
	Elf64_Sym symbols[COUNT] = {{0}};
	char names[10 * COUNT] = "";

	for (unsigned i = 1; i < COUNT; i++) {
		snprintf(names + (size_t)10 * i, 10, "name_%02u", i * 7 % COUNT);
		symbols[i] = (Elf64_Sym){
			.st_name = 10 * i,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = 1,
			.st_value = CODE + i / 20,
			.st_size = CODE_BYTES,
		};
	}
	built_elf_section(file, (Elf64_Shdr){.sh_type = SHT_SYMTAB}, ".symtab", symbols,
			  sizeof(symbols));
	add_section(file, ".strtab", names, sizeof(names));
}

static void add_build_id(struct built_elf *file)
{
	unsigned char note[80];

	built_elf_section(file, (Elf64_Shdr){.sh_type = SHT_NOTE}, ".note", note,
			  built_elf_build_id(note, "0123456789", 10));
}

static void add_code(struct built_elf *file)
{
	static const char code[CODE_BYTES];

	built_elf_segment(file, (Elf64_Phdr){.p_type = PT_LOAD,
					     .p_flags = PF_R | PF_X,
					     .p_vaddr = CODE,
					     .p_filesz = sizeof(file->data)});
	built_elf_section(file,
			  (Elf64_Shdr){.sh_type = SHT_PROGBITS,
				       .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				       .sh_addr = CODE},
			  ".text", code, sizeof(code));
	add_build_id(file);
}

static void init(struct changing_file *file, bool is_packed)
{
	struct buffer of_info = info(), of_abbrevs = abbrevs();
	char *strings = calloc(1, STRINGS_BYTES);
	struct built_elf *elf = &file->original;

	strcpy(strings + UNIT_NAME, "unit.cc");
	strcpy(strings + FUNCTION_NAME, "function");
	memset(strings + SPACE_NAME, 'Z', LONG_NAME_BYTES);
	built_elf_init(elf);
	add_code(elf);
	add_symbols(elf);
	if (is_packed)
		add_packed(elf, ".debug_info", of_info.data, of_info.len);
	else
		add_section(elf, ".debug_info", of_info.data, of_info.len);
	add_section(elf, ".debug_abbrev", of_abbrevs.data, of_abbrevs.len);
	add_section(elf, ".debug_str", strings, STRINGS_BYTES);
	free(strings);
	built_elf_finish(elf);
	file->len = elf->len;
	file->fd = memfd_create("test", MFD_CLOEXEC);
	assert_int_equal(write(file->fd, elf->data, elf->len), elf->len);
	file->shared = mmap(NULL, elf->len, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
	assert_true(file->shared != MAP_FAILED);
	atomic_init(&file->stop, false);
}

static void deinit(struct changing_file *file)
{
	munmap(file->shared, file->len);
	close(file->fd);
}

static const Elf64_Shdr *section_of(const struct changing_file *file, const char *name)
{
	const struct built_elf *elf = &file->original;
	unsigned i = 1;

	while (strcmp(elf->names + elf->sections[i].sh_name, name) != 0)
		i++;
	return &elf->sections[i];
}

static void toggle(struct changing_file *file, unsigned turn)
{
	memcpy(file->shared + file->at, &file->values[turn % 2], file->value_bytes);
}

/* Changes a random byte and restores it a little later. */
static void spoil(struct changing_file *file, unsigned *seed)
{
	static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff, 'Z'};
	size_t at = (size_t)rand_r(seed) % file->len;

	file->shared[at] = values[(size_t)rand_r(seed) % sizeof(values)];
	for (volatile unsigned i = (unsigned)rand_r(seed) % 2000; i; i--)
		;
	file->shared[at] = file->original.data[at];
}

static void *change(void *opaque)
{
	struct changing_file *file = opaque;
	unsigned seed = 1;

	for (unsigned turn = 0; !atomic_load(&file->stop); turn++)
		if (file->at)
			toggle(file, turn);
		else
			spoil(file, &seed);
	return NULL;
}

static void see(void *user, size_t request, const struct engine_result *result)
{
	size_t *letters = user;

	(void)request;
	for (unsigned i = 0; i < result->lines[0].count; i++) {
		const struct symbolized_line *line = &result->lines[0].lines[i];

		*letters += strlen(line->name) + strlen(line->system_name) + strlen(line->file);
	}
}

static size_t symbolize(const struct changing_file *file)
{
	const uint64_t addresses[] = {CODE + 1, CODE + 2, CODE + CODE_BYTES - 1};
	size_t letters = 0;
	const struct engine_options options = {
		.source = {.inlines = true},
		.pool = {.threads = 1},
		.finished = see,
		.user = &letters,
	};
	CLEANUP(elf_file_cleanup) struct elf_file *elf = NULL;
	CLEANUP(engine_cleanup) struct engine *engine = engine_new(&options);
	CLEANUP(error_cleanup)
	struct error *err = elf_file_open(dup(file->fd), "test", &elf);
	const struct engine_request request = {
		.module = {.elf = elf}, .addresses = addresses, .count = 3};

	if (!err)
		engine_run(engine, &request, 1);
	return letters;
}

/* Runs for a fifth of a second of CPU time, half of which is the owner's. */
static void symbolize_while_it_changes(struct changing_file *file)
{
	size_t letters = 0;
	clock_t start = clock();

	signals_survive_cut_files();
	assert_true(symbolize(file) > 0);
	assert_int_equal(pthread_create(&file->thread, NULL, change, file), 0);
	while (clock() - start < CLOCKS_PER_SEC / 5)
		letters += symbolize(file);
	atomic_store(&file->stop, true);
	pthread_join(file->thread, NULL);
	assert_true(letters > 0);
	deinit(file);
}

TEST(a_name_may_change_its_length_while_it_is_joined)
{
	struct changing_file file = {.values = {0, 'Z'}, .value_bytes = 1};

	init(&file, false);
	file.at = section_of(&file, ".debug_str")->sh_offset + SPACE_NAME + 4;
	symbolize_while_it_changes(&file);
}

TEST(a_compressed_section_may_change_its_size)
{
	struct changing_file file = {.value_bytes = 8};

	init(&file, true);
	file.values[0] = info().len;
	file.values[1] = 300;
	file.at = section_of(&file, ".debug_info")->sh_offset + offsetof(Elf64_Chdr, ch_size);
	symbolize_while_it_changes(&file);
}

TEST(names_of_symbols_may_change_while_they_are_sorted)
{
	struct changing_file file = {.value_bytes = 8};

	init(&file, false);
	file.at = section_of(&file, ".strtab")->sh_offset + 100 + 5;
	memcpy(&file.values[0], "0a\0name_", 8);
	memcpy(&file.values[1], "zzzzzzzz", 8);
	symbolize_while_it_changes(&file);
}

TEST(a_section_may_change_its_place_and_size)
{
	struct changing_file file = {.value_bytes = 8};

	init(&file, false);
	file.at = file.original.header.e_shoff + offsetof(Elf64_Shdr, sh_size) +
		  (size_t)((const char *)section_of(&file, ".debug_info") -
			   (const char *)file.original.sections);
	file.values[0] = info().len;
	file.values[1] = 30000;
	symbolize_while_it_changes(&file);
}

TEST(any_byte_may_change)
{
	struct changing_file file = {.at = 0};

	init(&file, false);
	symbolize_while_it_changes(&file);
}

/* The debug file of a module, which its owner truncates when prof has opened
 * it. */
struct cut_debug_file {
	struct changing_file file;
	enum source_problem problem;
};

static int open_debug_file(void *user, const struct debugfile_question *question, unsigned attempt,
			   char **path)
{
	const struct cut_debug_file *cut = user;

	if (question->kind != DEBUGFILE_BY_BUILD_ID || attempt)
		return -1;
	*path = xstrdup("debug file");
	return dup(cut->file.fd);
}

/* Called after each file was opened (ENGINE_NO_REQUEST) and for each request. */
static void cut_when_opened(void *user, unsigned thread, size_t request, bool in_libdw)
{
	const struct cut_debug_file *cut = user;

	(void)thread;
	(void)in_libdw;
	if (request == ENGINE_NO_REQUEST)
		assert_int_equal(ftruncate(cut->file.fd, 0), 0);
}

static void see_problem(void *user, size_t request, const struct engine_result *result)
{
	struct cut_debug_file *cut = user;

	(void)request;
	cut->problem = result->problem;
}

static enum source_problem problem_of(struct cut_debug_file *cut, bool is_cut)
{
	const uint64_t address = CODE + 1;
	const struct engine_options options = {
		.source = {.inlines = true},
		.pool = {.threads = 1},
		.finished = see_problem,
		.at_work = is_cut ? cut_when_opened : NULL,
		.user = cut,
	};
	CLEANUP(elf_file_cleanup) struct elf_file *module = NULL;
	CLEANUP(engine_cleanup) struct engine *engine = engine_new(&options);
	struct built_elf stripped;

	built_elf_init(&stripped);
	add_code(&stripped);
	built_elf_finish(&stripped);
	assert_null(elf_file_from_memory(stripped.data, stripped.len, "module", &module));
	engine_run(engine,
		   &(struct engine_request){
			   .module = {.elf = module, .opener = {open_debug_file, cut}},
			   .addresses = &address,
			   .count = 1,
		   },
		   1);
	return cut->problem;
}

TEST(a_debug_file_that_is_cut_while_it_is_read_is_reported)
{
	struct cut_debug_file cut = {.problem = SOURCE_NO_PROBLEM};

	signals_survive_cut_files();
	init(&cut.file, false);
	assert_int_equal(problem_of(&cut, false), SOURCE_NO_PROBLEM);
	assert_int_equal(problem_of(&cut, true), SOURCE_CHANGED_FILE);
	deinit(&cut.file);
}
