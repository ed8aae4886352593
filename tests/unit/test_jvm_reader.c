/* Reads several things of a Java virtual machine at once. The machine is
 * synthetic, in the memory of this process. */
#include "unwind/jvm_reader.h"

#include "built_elf.h"
#include "lacking.h"
#include "unit_test.h"
#include "vm_image.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

struct fixture {
	struct image *image;
	/* the address that the image assumes, or NULL if it is not available */
	unsigned char *memory;
	struct jvm_reader *reader;
	struct jvm_code code;
};

static struct fixture fixture_new(void)
{
	struct fixture f = {.image = image_new(&jdk_17), .reader = jvm_reader_new("/proc")};
	void *base = (void *)(uintptr_t)IMAGE_BASE; /* NOLINT */
	unsigned char *memory = mmap(base, IMAGE_BYTES, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (memory == base && has_process_vm_readv())
		f.memory = memory;
	assert_true(vm_layout_read(&f.image->memory, &f.image->symbols, 0, &f.code.layout));
	return f;
}

static void fixture_free(struct fixture *f)
{
	if (f->memory)
		munmap(f->memory, IMAGE_BYTES);
	jvm_reader_free(f->reader);
	free(f->image);
}

static void publish(const struct fixture *f)
{
	memcpy(f->memory, f->image->bytes, IMAGE_BYTES);
}

static bool look_up(struct fixture *f, pid_t pid)
{
	return jvm_reader_look_up(f->reader, pid, &f->code);
}

/* Returns the blob that contains this pc. */
static struct code_blob blob_of(struct fixture *f, uint64_t pc)
{
	struct jvm_look_up *ask = jvm_reader_ask(f->reader);

	ask->pcs[ask->pc_count++] = pc;
	assert_true(look_up(f, getpid()));
	assert_int_equal(ask->blob_count, 1);
	return ask->blobs[0];
}

TEST(one_call_finds_blobs_and_reads_the_code_at_a_pc)
{
	struct fixture f = fixture_new();
	uint64_t method = image_blob(f.image, 3, 5, "nmethod", 8, 44);
	uint64_t stub = image_blob(f.image, 20, 2, "StubRoutines (1)", 0, -1);
	struct jvm_look_up *ask;

	if (!f.memory) {
		fixture_free(&f);
		RETURN_LACKING("memory at 64 KiB, or process_vm_readv(2)");
	}
	image_put(f.image, method + 100 - IMAGE_BASE, 0x1122334455667788, 8);
	publish(&f);
	ask = jvm_reader_ask(f.reader);
	ask->pcs[0] = stub + 8;
	ask->pcs[1] = IMAGE_BASE + IMAGE_HEAP; /* in no blob */
	ask->pcs[2] = method + 100;
	ask->pc_count = 3;
	ask->code_pc = method + 100;
	assert_true(look_up(&f, getpid()));
	assert_int_equal(ask->blob_count, 2);
	assert_int_equal(ask->blobs[0].start, stub);
	assert_int_equal(ask->blobs[1].start, method);
	assert_true(ask->has_piece);
	assert_memory_equal(ask->piece.bytes + JAVA_CODE_BEFORE +
				    ((method + 100) & ((1 << JVM_PIECE_LOG2) - 1)),
			    f.memory + (method + 100 - IMAGE_BASE), 8);
	assert_ptr_equal(jvm_reader_ask(f.reader), ask);
	assert_int_equal(ask->pc_count + ask->blob_count + ask->check_count, 0);
	fixture_free(&f);
}

TEST(of_many_blobs_those_that_changed_or_cannot_be_read_are_not_valid)
{
	enum { BLOBS = 200, REPLACED = 7, FREED = 150 };
	struct fixture f = fixture_new();
	struct code_blob blobs[BLOBS];
	struct jvm_look_up *ask;
	uint64_t page;

	if (!f.memory) {
		fixture_free(&f);
		RETURN_LACKING("memory at 64 KiB, or process_vm_readv(2)");
	}
	for (unsigned i = 0; i < BLOBS; i++)
		blobs[i].start = image_blob(f.image, 4 * i, 4, "nmethod", 8, 44);
	publish(&f);
	for (unsigned i = 0; i < BLOBS; i++)
		blobs[i] = blob_of(&f, blobs[i].start);
	image_blob(f.image, 4 * REPLACED, 4, "nmethod", 10, 44);
	image_put(f.image, blobs[FREED].block - IMAGE_BASE + jdk_17.used, 0, 1);
	publish(&f);
	page = blobs[50].block / PAGE * PAGE;
	assert_int_equal(mprotect((void *)(uintptr_t)page, PAGE, PROT_NONE), 0); /* NOLINT */
	ask = jvm_reader_ask(f.reader);
	memcpy(ask->checks, blobs, sizeof(blobs));
	ask->check_count = BLOBS;
	assert_true(look_up(&f, getpid()));
	for (unsigned i = 0; i < BLOBS; i++) {
		bool is_readable = blobs[i].block + code_header_bytes(&f.code.layout) <= page ||
				   blobs[i].block >= page + PAGE;

		assert_int_equal(ask->is_valid[i], is_readable && i != REPLACED && i != FREED);
	}
	fixture_free(&f);
}

/* Makes a libjvm that exports the tables of the image, except one symbol. */
static struct elf_file *libjvm_of(const struct image *image, uint64_t bias, unsigned without)
{
	static const char *const names[VM_SYMBOLS] = {"Structs",
						      "StructEntryArrayStride",
						      "StructEntryTypeNameOffset",
						      "StructEntryFieldNameOffset",
						      "StructEntryTypeStringOffset",
						      "StructEntryOffsetOffset",
						      "StructEntryAddressOffset",
						      "Types",
						      "TypeEntryArrayStride",
						      "TypeEntryTypeNameOffset",
						      "TypeEntrySizeOffset"};
	static struct built_elf file;
	Elf64_Sym symbols[VM_SYMBOLS] = {{0}};
	char strings[1024] = "";
	struct elf_file *elf = NULL;
	int len = 1, fd = memfd_create("libjvm.so", MFD_CLOEXEC);

	for (unsigned i = 0; i < VM_SYMBOLS; i++) {
		symbols[i].st_name = (Elf64_Word)len;
		symbols[i].st_value = image->symbols.vaddrs[i] - bias;
		len += 1 +
		       sprintf(strings + len, "gHotSpotVM%s%s", names[i], i == without ? "?" : "");
	}
	built_elf_init(&file);
	built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_DYNSYM}, ".dynsym", symbols,
			  sizeof(symbols));
	built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_STRTAB}, ".dynstr", strings,
			  (size_t)len);
	built_elf_finish(&file);
	assert_int_equal(write(fd, file.data, file.len), file.len);
	assert_null(elf_file_open(fd, "libjvm.so", &elf));
	return elf;
}

TEST(a_machine_is_opened_by_the_tables_that_its_library_exports)
{
	enum { BIAS = 0x8000 };
	struct fixture f = fixture_new();
	struct jvm_code code;

	if (!f.memory) {
		fixture_free(&f);
		RETURN_LACKING("memory at 64 KiB, or process_vm_readv(2)");
	}
	publish(&f);
	for (unsigned without = 0; without <= VM_SYMBOLS; without++) {
		struct elf_file *elf = libjvm_of(f.image, BIAS, without);

		assert_false(jvm_reader_open(f.reader, getpid(), elf, 1 << 30, &code));
		assert_int_equal(jvm_reader_open(f.reader, getpid(), elf, BIAS, &code),
				 without == VM_SYMBOLS);
		elf_file_free(elf);
	}
	assert_memory_equal(&code.layout, &f.code.layout, sizeof(code.layout));
	assert_int_equal(code.heaps.count, 1);
	assert_int_equal(code.heaps.heaps[0].low, IMAGE_BASE + IMAGE_HEAP);
	fixture_free(&f);
}

/* At the start of readable memory in the middle of a piece, and at its end. */
TEST(a_piece_of_code_has_what_can_be_read_of_it)
{
	enum { END = IMAGE_BASE + IMAGE_BYTES };
	static const struct {
		uint64_t pc;
		bool is_read;
	} cases[] = {{IMAGE_BASE + 4, true}, {END - 8, true}, {END, false}, {END + 8, false}};
	struct fixture f = fixture_new();

	if (!f.memory) {
		fixture_free(&f);
		RETURN_LACKING("memory at 64 KiB, or process_vm_readv(2)");
	}
	image_put(f.image, 4, 0x1122334455667788, 8);
	image_put(f.image, IMAGE_BYTES - 8, 0x1122334455667788, 8);
	publish(&f);
	for (unsigned i = 0; i < 4; i++) {
		struct jvm_look_up *ask = jvm_reader_ask(f.reader);
		const unsigned char *at = ask->piece.bytes + JAVA_CODE_BEFORE +
					  cases[i].pc % (1 << JVM_PIECE_LOG2);

		ask->code_pc = cases[i].pc;
		assert_true(look_up(&f, getpid()));
		assert_int_equal(ask->has_piece, cases[i].is_read);
		if (cases[i].is_read)
			assert_memory_equal(at, "\x88\x77\x66\x55\x44\x33\x22\x11", 8);
	}
	fixture_free(&f);
}

TEST(a_process_that_does_not_exist_answers_nothing)
{
	struct fixture f = fixture_new();

	jvm_reader_ask(f.reader)->pc_count = 0;
	assert_false(look_up(&f, 1 << 29));
	fixture_free(&f);
}
