#include "base/mapped_file.h"
#include "base/signals.h"
#include "lacking.h"
#include "unit_test.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096 };

static int file_of_pages(size_t pages)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)pages * PAGE_BYTES), 0);
	assert_int_equal(pwrite(fd, "start", 5, 0), 5);
	return fd;
}

/* A file that is truncated after it was mapped. The tests use at most half of
 * the number of mappings that the kernel allows. */
struct cut_file {
	unsigned char *data;
	size_t pages;
};

static void cut_file_init(struct cut_file *file, size_t pages)
{
	int fd = file_of_pages(pages);

	file->pages = pages;
	file->data = mapped_file_new(fd, pages * PAGE_BYTES);
	assert_non_null(file->data);
	assert_string_equal(file->data, "start");
	assert_int_equal(ftruncate(fd, PAGE_BYTES), 0);
	close(fd);
}

static void cut_file_deinit(struct cut_file *file)
{
	mapped_file_free(file->data, file->pages * PAGE_BYTES);
}

/* Reads every second page, like a reader of malicious debug information. */
static void *read_pages_apart(void *opaque)
{
	const struct cut_file *file = opaque;
	uintptr_t sum = 0;

	for (size_t i = 1; i < file->pages; i += 2)
		sum += file->data[i * PAGE_BYTES];
	return (void *)sum;
}

TEST(more_pages_than_there_can_be_mappings_may_be_gone)
{
	struct cut_file file;

	signals_survive_cut_files();
	cut_file_init(&file, 80000);
	assert_null(read_pages_apart(&file));
	assert_string_equal(file.data, "start");
	cut_file_deinit(&file);
}

TEST(threads_may_read_pages_that_are_gone)
{
	struct cut_file file;
	pthread_t threads[4];
	void *sum;

	signals_survive_cut_files();
	cut_file_init(&file, 80000);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_pages_apart, &file), 0);
	for (size_t i = 0; i < 4; i++) {
		pthread_join(threads[i], &sum);
		assert_null(sum);
	}
	cut_file_deinit(&file);
}

TEST(a_forked_child_may_read_pages_that_are_gone)
{
	struct cut_file file;
	int status = -1;
	pid_t child;

	signals_survive_cut_files();
	cut_file_init(&file, 1000);
	child = fork();
	if (child == 0)
		_exit(read_pages_apart(&file) ? 1 : 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	cut_file_deinit(&file);
}

/* Zeros must not overwrite memory that is mapped after a file. */
TEST(a_mapped_file_has_its_blocks_for_itself)
{
	enum { FILES = 16 };
	struct cut_file files[FILES];
	unsigned char *other[FILES];

	signals_survive_cut_files();
	for (size_t i = 0; i < FILES; i++) {
		cut_file_init(&files[i], 2 + i);
		assert_int_equal((uintptr_t)files[i].data % MAPPED_FILE_BLOCK_BYTES, 0);
		other[i] = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_true(other[i] != MAP_FAILED);
		memset(other[i], 'x', PAGE_BYTES);
	}
	for (size_t i = 0; i < FILES; i++)
		assert_null(read_pages_apart(&files[i]));
	for (size_t i = 0; i < FILES; i++) {
		assert_int_equal(other[i][0], 'x');
		assert_string_equal(files[i].data, "start");
		munmap(other[i], PAGE_BYTES);
		cut_file_deinit(&files[i]);
	}
}

TEST(what_is_gone_cannot_be_copied)
{
	if (!has_process_vm_readv())
		RETURN_LACKING("process_vm_readv(2)");
	struct cut_file file;
	char into[2 * PAGE_BYTES];

	cut_file_init(&file, 4);
	assert_true(mapped_file_read(file.data, 6, into));
	assert_string_equal(into, "start");
	assert_true(mapped_file_read(file.data, PAGE_BYTES, into));
	assert_false(mapped_file_read(file.data, PAGE_BYTES + 1, into));
	assert_false(mapped_file_read(file.data + PAGE_BYTES, 1, into));
	assert_true(mapped_file_read(file.data, 0, into));
	cut_file_deinit(&file);
}
