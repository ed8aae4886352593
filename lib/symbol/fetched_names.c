#include "symbol/fetched_names.h"

#include "symbol/fetching.h"
#include "symbol/lacking_samples.h"

#include "base/alloc.h"

#include <string.h>
#include <unistd.h>

static void on_finished(void *user, size_t request, struct reply *reply)
{
	struct inquiry **asked = user;

	reply_free(asked[request]->reply);
	asked[request]->reply = reply;
}

/* The names that it has stay. */
static void on_lost(void *user, size_t request, char *why)
{
	struct inquiry **asked = user;

	free(asked[request]->refused);
	asked[request]->refused = why;
}

/*
 * Apart from the files of this machine, which a server must not cost their names: whoever else may
 * write to the files that a worker reads, a server may.
 */
static struct file_origin served_origin(uid_t caller, struct file_origin origin)
{
	if (!origin.is_foreign)
		origin.owner = geteuid() == 0 && caller ? caller : geteuid();
	origin.is_foreign = true;
	return origin;
}

/* By workers of their own, which know the module without its debug file not yet. */
static struct worker_cost ask_again(const struct fetched_names_run *run,
				    const struct fetching *fetching)
{
	CLEANUP(crews_cleanup) struct crews *crews = crews_new(run->crews);
	CLEANUP(free_ptr)
	struct crews_request *requests = xcalloc(fetching->count, sizeof(*requests));
	CLEANUP(free_ptr) struct inquiry **asked = xcalloc(fetching->count, sizeof(*asked));
	size_t count = 0;

	for (size_t i = 0; i < fetching->count; i++) {
		struct inquiry *inquiry = &run->inquiries->items[fetching->modules[i].index];

		if (!fetching->modules[i].is_renewed)
			continue;
		requests[count] = inquiry->request;
		requests[count].origin = served_origin(run->crews->caller, inquiry->request.origin);
		asked[count++] = inquiry;
	}
	crews_run(crews, &(struct crews_run){
				 .requests = requests,
				 .count = count,
				 .cancel = run->cancel,
				 .done = run->done,
				 .finished = on_finished,
				 .lost = on_lost,
				 .user = asked,
			 });
	return crews_cost(crews);
}

/* Whether files for it can be fetched: only a build-id says which are the right ones. */
static bool is_fetchable(const struct fetched_names_run *run, const struct inquiry *inquiry)
{
	const struct module *module = address_spaces_module(run->spaces, inquiry->module);

	return module->kind == MODULE_FILE && module->elf && !inquiry->problem && !inquiry->loss &&
	       elf_file_build_id(module->elf)->len;
}

static struct fetching_module fetching_module_of(const struct fetched_names_run *run,
						 struct inquiry *inquiry)
{
	const struct module *module = address_spaces_module(run->spaces, inquiry->module);
	uint32_t completing = run->names_only ? NAMES_SYMTAB : NAMES_DWARF;

	return (struct fetching_module){
		.build_id = elf_file_build_id(module->elf),
		.path = module->path,
		.is_complete = inquiry->reply && reply_sources(inquiry->reply).present & completing,
		.opener = &inquiry->opener,
		.index = (uint32_t)(inquiry - run->inquiries->items),
	};
}

/* Whether a fetched file may bring the frame more than it has. */
static bool lacks(const struct fetched_names_run *run, const struct inquiry *inquiry,
		  uint32_t address)
{
	enum named named = inquiry_named(inquiry, address);

	return named == UNNAMED || (named == NAMED && !run->names_only);
}

/* Sets the samples of modules. Returns the number of samples in all. */
static uint64_t weigh(const struct fetched_names_run *run, struct fetching *fetching)
{
	const struct inquiries *inquiries = run->inquiries;
	CLEANUP(free_ptr) uint32_t *group_of = xcalloc(inquiries->end, sizeof(*group_of));
	CLEANUP(free_ptr) uint64_t *samples = xcalloc(inquiries->count, sizeof(*samples));
	uint64_t all;

	for (frame_id id = 0; id < inquiries->end; id++) {
		uint32_t address;
		const struct inquiry *inquiry = inquiries_of_frame(inquiries, id, &address);

		group_of[id] = LACKING_NOTHING;
		if (inquiry && is_fetchable(run, inquiry) && lacks(run, inquiry, address))
			group_of[id] = (uint32_t)(inquiry - inquiries->items);
	}
	all = lacking_samples(run->profile, group_of, inquiries->end, (uint32_t)inquiries->count,
			      samples);
	for (size_t i = 0; i < fetching->count; i++)
		fetching->modules[i].samples = samples[fetching->modules[i].index];
	return all;
}

/* A server sends what it likes, and the cache keeps it. */
static void note_wrong_file(const struct fetched_names_run *run, struct inquiry *inquiry)
{
	const struct module *module = address_spaces_module(run->spaces, inquiry->module);
	const struct fetched_file *file = fetched_files_find(run->files,
							     elf_file_build_id(module->elf));
	const char *used = inquiry->reply ? reply_sources(inquiry->reply).debug_file : NULL;

	if (file && file->fd >= 0 && !inquiry->refused && (!used || strcmp(used, file->path) != 0))
		inquiry->refused = xasprintf("%s is not its debug file: remove it", file->path);
}

static bool is_cancelled(const struct fetched_names_run *run)
{
	return run->cancel && atomic_load(run->cancel);
}

struct worker_cost fetched_names_run(const struct fetched_names_run *run)
{
	const struct inquiries *inquiries = run->inquiries;
	CLEANUP(free_ptr)
	struct fetching_module *modules = xcalloc(inquiries->count, sizeof(*modules));
	struct fetching fetching = {
		.fetcher = run->fetcher,
		.files = run->files,
		.modules = modules,
	};
	struct worker_cost cost = {0};

	for (size_t i = 0; i < inquiries->count; i++)
		if (is_fetchable(run, &inquiries->items[i]))
			modules[fetching.count++] = fetching_module_of(run, &inquiries->items[i]);
	fetching_select(&fetching, weigh(run, &fetching));
	for (unsigned i = 0; i < FETCHING_ROUNDS && fetching_round(&fetching); i++)
		worker_cost_add(&cost, ask_again(run, &fetching));
	for (size_t i = 0; i < fetching.count && !is_cancelled(run); i++)
		note_wrong_file(run, &inquiries->items[modules[i].index]);
	return cost;
}
