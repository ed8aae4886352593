#include "symbol/symbol_cache.h"

#include "symbol/cache_directory.h"
#include "symbol/remote_opener.h"
#include "symbol/reply_part.h"

#include "base/alloc.h"
#include "base/gzip.h"

#include <link.h>
#include <string.h>

/* Limits of an entry. */
enum { CACHE_ADDRESSES_MAX = 4096, CACHE_ANSWERS_MAX = 64 };

struct symbol_cache {
	int directory;
	struct build_id own; /* prof's own build-id */
	struct source_options options;
	bool has_written;
};

/*
 * An entry depends on these and on the answers about debug files. Compared as
 * bytes.
 */
struct symbol_cache_key {
	struct build_id own, file;
	struct file_version version;
	uint32_t inlines, symbolizer;
};

static int symbol_cache_read_own(struct dl_phdr_info *info, size_t size, void *user)
{
	struct build_id *ret = user;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum && !ret->len; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const void *notes = (const void *)(uintptr_t)(info->dlpi_addr + segment->p_vaddr);

		if (segment->p_type == PT_NOTE)
			build_id_find(bytes_of(notes, segment->p_memsz), segment->p_align, ret);
	}
	return 1; /* the first one is the program */
}

struct symbol_cache *symbol_cache_new(const struct source_options *options)
{
	struct symbol_cache *cache;
	struct build_id own = {0};
	int directory;

	dl_iterate_phdr(symbol_cache_read_own, &own);
	directory = own.len ? cache_directory_open() : -1;
	if (directory < 0)
		return NULL;
	cache = xcalloc(1, sizeof(*cache));
	*cache = (struct symbol_cache){.directory = directory, .own = own, .options = *options};
	return cache;
}

void symbol_cache_free(struct symbol_cache *cache)
{
	if (!cache)
		return;
	if (cache->has_written)
		cache_directory_trim(cache->directory);
	close_fd(&cache->directory);
	free(cache);
}

static bool symbol_cache_takes(const struct engine_request *request, bool is_untrusted)
{
	const struct source_module *module = &request->module;

	/* Only modules that are files have debug files. */
	return !is_untrusted && module->elf && !module->kernel && module->opener.open &&
	       elf_file_build_id(module->elf)->len && elf_file_version(module->elf).inode &&
	       request->count <= CACHE_ADDRESSES_MAX;
}

static void symbol_cache_set_key(const struct symbol_cache *cache, const struct elf_file *elf,
				 struct symbol_cache_request *request)
{
	struct symbol_cache_key *key = xcalloc(1, sizeof(*key));
	char hex[BUILD_ID_HEX_BYTES];

	key->own = cache->own;
	key->file = *elf_file_build_id(elf);
	key->version = elf_file_version(elf);
	key->inlines = cache->options.inlines;
	key->symbolizer = cache->options.symbolizer;
	request->key = key;
	request->key_bytes = sizeof(*key);
	build_id_hex(&key->file, hex);
	request->name = xasprintf("%s-%08x", hex, crc32_of(bytes_of(key, sizeof(*key))));
}

static struct file_version symbol_cache_version_of(int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return (struct file_version){0};
	return file_version_of(&st);
}

/* Returns true if the question still has the answer. */
static bool symbol_cache_is_current(const struct symbol_cache_request *request,
				    const struct cache_answer *answer)
{
	CLEANUP(free_ptr) char *name = NULL, *path = NULL;
	CLEANUP(close_fd) int fd = -1;
	struct debugfile_question question;
	struct file_version version;
	uint32_t attempt;

	if (!remote_question_read(answer->question, &question, &attempt, &name))
		return false;
	fd = request->opener.open(request->opener.user, &question, attempt, &path);
	version = symbol_cache_version_of(fd);
	return answer->found == (fd >= 0) && !memcmp(&version, &answer->version, sizeof(version)) &&
	       (path ? strlen(path) : 0) == bytes_left(&answer->path) &&
	       (!path || !memcmp(path, answer->path.at, strlen(path)));
}

static bool symbol_cache_is_valid(const struct symbol_cache_request *request,
				  const struct cache_entry *entry)
{
	for (size_t i = 0; i < entry->answer_count; i++)
		if (!symbol_cache_is_current(request, &entry->answers[i]))
			return false;
	return true;
}

static struct reply *symbol_cache_decode(const struct cache_entry *entry)
{
	size_t len = bytes_left(&entry->reply);
	void *copy = xmalloc(len ? len : 1);

	if (len)
		memcpy(copy, entry->reply.at, len);
	return reply_read(copy, len, entry->count);
}

/* Returns false if there is no valid entry, and `request` has none. */
static bool symbol_cache_read(struct symbol_cache_request *request)
{
	struct cache_entry *entry = &request->entry;
	size_t len;
	void *data = cache_directory_read(request->cache->directory, request->name,
					  CACHE_ENTRY_BYTES_MAX, &len);

	if (!data ||
	    !cache_entry_read(data, len, bytes_of(request->key, request->key_bytes), entry))
		return false;
	if (symbol_cache_is_valid(request, entry))
		request->known = symbol_cache_decode(entry);
	if (!request->known)
		cache_entry_deinit(entry);
	return request->known;
}

/* Two ascending lists of addresses, each with its reply, become one. */
struct symbol_cache_join {
	uint64_t *addresses;
	struct reply_pick *picks;
	size_t count;
};

static void symbol_cache_join_deinit(struct symbol_cache_join *join)
{
	free(join->addresses);
	free(join->picks);
}

static void symbol_cache_join_add(struct symbol_cache_join *join, uint64_t address,
				  const struct reply *reply, size_t index)
{
	join->addresses[join->count] = address;
	join->picks[join->count++] = (struct reply_pick){reply, (uint32_t)index};
}

static struct symbol_cache_join symbol_cache_join(const struct symbol_cache_request *request,
						  const struct reply *fresh)
{
	const struct cache_entry *entry = &request->entry;
	const size_t most = entry->count + request->missing_count;
	struct symbol_cache_join join = {
		.addresses = xcalloc(most, sizeof(*join.addresses)),
		.picks = xcalloc(most, sizeof(*join.picks)),
	};
	size_t i = 0, j = 0;

	while (i < entry->count || j < request->missing_count)
		if (j == request->missing_count ||
		    (i < entry->count && entry->addresses[i] < request->missing[j])) {
			symbol_cache_join_add(&join, entry->addresses[i], request->known, i);
			i++;
		} else {
			symbol_cache_join_add(&join, request->missing[j], fresh, j);
			j++;
		}
	return join;
}

/* Keeps the addresses that the caller has asked for. */
static void symbol_cache_select(const struct symbol_cache_request *request,
				struct symbol_cache_join *join)
{
	size_t kept = 0;

	for (size_t i = 0; i < join->count && kept < request->count; i++)
		if (join->addresses[i] == request->addresses[kept])
			join->picks[kept++] = join->picks[i];
	join->count = kept;
}

static void symbol_cache_find_missing(struct symbol_cache_request *request)
{
	const struct cache_entry *entry = &request->entry;
	size_t at = 0;

	request->missing = xcalloc(request->count, sizeof(*request->missing));
	for (size_t i = 0; i < request->count; i++) {
		while (at < entry->count && entry->addresses[at] < request->addresses[i])
			at++;
		if (at == entry->count || entry->addresses[at] != request->addresses[i])
			request->missing[request->missing_count++] = request->addresses[i];
	}
}

/* Returns the reply if all of it is known. */
static struct reply *symbol_cache_known(const struct symbol_cache_request *request)
{
	CLEANUP(symbol_cache_join_deinit) struct symbol_cache_join join = {0};

	if (request->missing_count)
		return NULL;
	join = symbol_cache_join(request, NULL);
	symbol_cache_select(request, &join);
	return reply_part(request->known, join.picks, join.count);
}

static void symbol_cache_forget(struct symbol_cache_request *request)
{
	reply_free(STEAL(request->known));
	cache_entry_deinit(&request->entry);
}

static struct bytes symbol_cache_copy(const void *data, size_t len)
{
	void *copy = xmalloc(len ? len : 1);

	if (len)
		memcpy(copy, data, len);
	return bytes_of(copy, len);
}

static bool symbol_cache_distrusts(int fd)
{
	struct stat st;

	return fd >= 0 && (fstat(fd, &st) < 0 || file_origin_of(fd, &st).is_untrusted);
}

static void symbol_cache_note(struct symbol_cache_request *request,
			      const struct debugfile_question *question, unsigned attempt, int fd,
			      const char *path)
{
	unsigned char bytes[REMOTE_QUESTION_BYTES_MAX];
	size_t len = remote_question_write(question, attempt, bytes);

	if (request->answer_count == CACHE_ANSWERS_MAX || symbol_cache_distrusts(fd)) {
		request->is_unusable = true;
		return;
	}
	GROW(request->answers, request->answer_count, request->answer_room);
	request->answers[request->answer_count++] = (struct cache_answer){
		.question = symbol_cache_copy(bytes, len),
		.found = fd >= 0,
		.version = symbol_cache_version_of(fd),
		.path = symbol_cache_copy(path, fd >= 0 ? strlen(path) : 0),
	};
}

/* Answers a worker, or the threads of an engine in this process. */
static int symbol_cache_open_file(void *user, const struct debugfile_question *question,
				  unsigned attempt, char **path)
{
	struct symbol_cache_request *request = user;
	int fd = request->opener.open(request->opener.user, question, attempt, path);

	pthread_mutex_lock(&request->lock);
	if (debugfile_question_is_valid(question))
		symbol_cache_note(request, question, attempt, fd, *path);
	pthread_mutex_unlock(&request->lock);
	return fd;
}

/*
 * Looks up the request. If addresses are missing, workers are asked for these,
 * or for all if the entry would become too large.
 */
static struct reply *symbol_cache_look_up(struct symbol_cache_request *request,
					  struct engine_request *workers)
{
	struct reply *reply;

	if (!symbol_cache_read(request))
		return NULL;
	symbol_cache_find_missing(request);
	reply = symbol_cache_known(request);
	if (request->entry.count + request->missing_count > CACHE_ADDRESSES_MAX)
		symbol_cache_forget(request);
	if (!request->known)
		return reply;
	workers->addresses = request->missing;
	workers->count = request->missing_count;
	return reply;
}

struct reply *symbol_cache_find(struct symbol_cache *cache, struct engine_request *workers,
				bool is_untrusted, struct symbol_cache_request *ret)
{
	struct reply *reply;

	*ret = (struct symbol_cache_request){0};
	if (!cache || !symbol_cache_takes(workers, is_untrusted))
		return NULL;
	*ret = (struct symbol_cache_request){
		.cache = cache,
		.addresses = workers->addresses,
		.count = workers->count,
		.opener = workers->module.opener,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	symbol_cache_set_key(cache, workers->module.elf, ret);
	reply = symbol_cache_look_up(ret, workers);
	workers->module.opener = (struct debugfile_opener){.open = symbol_cache_open_file,
							   .user = ret};
	return reply;
}

/* Some properties of a reply depend on all of its addresses, or on its run. */
static bool symbol_cache_is_lasting(const struct symbol_cache_request *request,
				    const struct reply *reply)
{
	struct name_sources sources = reply_sources(reply);

	return !request->is_unusable && reply_problem(reply) == SOURCE_NO_PROBLEM &&
	       !sources.split_units && !(sources.present & NAMES_LIBDW);
}

static bool symbol_cache_has_answer(const struct symbol_cache_request *request,
				    struct bytes question)
{
	size_t len = bytes_left(&question);

	for (size_t i = 0; i < request->answer_count; i++)
		if (bytes_left(&request->answers[i].question) == len &&
		    !memcmp(request->answers[i].question.at, question.at, len))
			return true;
	return false;
}

/* Adds the answers of the old entry that were not needed this time. */
static void symbol_cache_add_answers(struct symbol_cache_request *request)
{
	for (size_t i = 0; i < request->entry.answer_count; i++) {
		struct cache_answer answer = request->entry.answers[i];

		if (symbol_cache_has_answer(request, answer.question))
			continue;
		answer.question = symbol_cache_copy(answer.question.at,
						    bytes_left(&answer.question));
		answer.path = symbol_cache_copy(answer.path.at, bytes_left(&answer.path));
		GROW(request->answers, request->answer_count, request->answer_room);
		request->answers[request->answer_count++] = answer;
	}
}

static void symbol_cache_write(struct symbol_cache_request *request, const uint64_t *addresses,
			       size_t count, const struct reply *reply)
{
	struct symbol_cache *cache = request->cache;
	CLEANUP(free_ptr) void *data = NULL;
	size_t len;

	if (!symbol_cache_is_lasting(request, reply))
		return;
	symbol_cache_add_answers(request);
	data = cache_entry_write(&(struct cache_entry){.answers = request->answers,
						       .answer_count = request->answer_count,
						       .addresses = addresses,
						       .count = count,
						       .reply = reply_bytes(reply)},
				 bytes_of(request->key, request->key_bytes), &len);
	if (!data || len > CACHE_ENTRY_BYTES_MAX)
		return;
	cache_directory_write(cache->directory, request->name, data, len);
	cache->has_written = true;
}

struct reply *symbol_cache_keep(struct symbol_cache_request *request, struct reply *reply)
{
	CLEANUP(reply_cleanup) struct reply *fresh = reply, *all = NULL;
	CLEANUP(symbol_cache_join_deinit) struct symbol_cache_join join = {0};

	if (!request->cache)
		return STEAL(fresh);
	request->is_unusable |= reply_is_reduced(fresh);
	if (!request->known) {
		symbol_cache_write(request, request->addresses, request->count, fresh);
		return STEAL(fresh);
	}
	join = symbol_cache_join(request, fresh);
	all = reply_part(fresh, join.picks, join.count);
	symbol_cache_write(request, join.addresses, join.count, all);
	symbol_cache_select(request, &join);
	return reply_part(fresh, join.picks, join.count);
}

void symbol_cache_request_deinit(struct symbol_cache_request *request)
{
	for (size_t i = 0; i < request->answer_count; i++) {
		free((void *)(uintptr_t)request->answers[i].question.at);
		free((void *)(uintptr_t)request->answers[i].path.at);
	}
	free(request->answers);
	free(request->missing);
	symbol_cache_forget(request);
	free(request->key);
	free(request->name);
}
