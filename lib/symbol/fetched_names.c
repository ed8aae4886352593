#include "symbol/fetched_names.h"

#include "symbol/fetching.h"
#include "symbol/lacking_samples.h"

#include "base/alloc.h"

#include <string.h>
#include <unistd.h>

static void fetched_names_on_finished(void *user, size_t request, struct reply *reply)
{
	struct symbol_request **asked = user;

	reply_free(asked[request]->reply);
	asked[request]->reply = reply;
}

/* The request keeps its previous names. */
static void fetched_names_on_lost(void *user, size_t request, char *why)
{
	struct symbol_request **asked = user;

	free(asked[request]->refused);
	asked[request]->refused = why;
}

/*
 * Returns the origin of a module whose debug file comes from a server. Such
 * modules are separated from those with files of this machine, because the
 * server can write anything into the files that a worker reads.
 */
static struct file_origin served_origin(uid_t caller, struct file_origin origin)
{
	if (!origin.is_untrusted)
		origin.owner = geteuid() == 0 && caller ? caller : geteuid();
	origin.is_untrusted = true;
	return origin;
}

/* Uses new workers, which have not read the module without its debug file. */
static struct worker_cost ask_again(const struct fetched_names_run *run,
				    const struct fetching *fetching)
{
	CLEANUP(worker_pools_cleanup)
	struct worker_pools *pools = worker_pools_new(run->pools);
	CLEANUP(free_ptr)
	struct worker_pools_request *requests = xcalloc(fetching->count, sizeof(*requests));
	CLEANUP(free_ptr) struct symbol_request **asked = xcalloc(fetching->count, sizeof(*asked));
	size_t count = 0;

	for (size_t i = 0; i < fetching->count; i++) {
		struct symbol_request *request = &run->requests->items[fetching->modules[i].index];

		if (!fetching->modules[i].is_renewed)
			continue;
		requests[count] = request->request;
		requests[count].origin = served_origin(run->pools->caller, request->request.origin);
		asked[count++] = request;
	}
	worker_pools_run(pools, &(struct worker_pools_run){
					.requests = requests,
					.count = count,
					.cancel = run->cancel,
					.done = run->done,
					.finished = fetched_names_on_finished,
					.lost = fetched_names_on_lost,
					.user = asked,
				});
	return worker_pools_cost(pools);
}

/*
 * Returns true if files can be fetched for the module. This requires a
 * build-id, which identifies the right files.
 */
static bool is_fetchable(const struct fetched_names_run *run, const struct symbol_request *request)
{
	const struct module *module = address_spaces_module(run->spaces, request->module);

	return module->kind == MODULE_FILE && module->elf && !request->problem && !request->loss &&
	       elf_file_build_id(module->elf)->len;
}

static struct fetching_module fetching_module_of(const struct fetched_names_run *run,
						 struct symbol_request *request)
{
	const struct module *module = address_spaces_module(run->spaces, request->module);
	uint32_t completing = run->names_only ? NAMES_SYMTAB : NAMES_DWARF;

	return (struct fetching_module){
		.build_id = elf_file_build_id(module->elf),
		.path = module->path,
		.is_complete = request->reply && reply_sources(request->reply).present & completing,
		.opener = &request->opener,
		.index = (uint32_t)(request - run->requests->items),
	};
}

/* Returns true if a fetched file may add to the frame's lines. */
static bool fetched_names_lacks(const struct fetched_names_run *run,
				const struct symbol_request *request, uint32_t address)
{
	enum named named = symbol_request_named(request, address);

	return named == UNNAMED || (named == NAMED && !run->names_only);
}

/* Sets the samples of modules. Returns the total number of samples. */
static uint64_t fetched_names_weigh(const struct fetched_names_run *run, struct fetching *fetching)
{
	const struct symbol_requests *requests = run->requests;
	CLEANUP(free_ptr) uint32_t *group_of = xcalloc(requests->end, sizeof(*group_of));
	CLEANUP(free_ptr) uint64_t *samples = xcalloc(requests->count, sizeof(*samples));
	uint64_t all;

	for (frame_id id = 0; id < requests->end; id++) {
		uint32_t address;
		const struct symbol_request *request = symbol_requests_of_frame(requests, id,
										&address);

		group_of[id] = LACKING_NOTHING;
		if (request && is_fetchable(run, request) &&
		    fetched_names_lacks(run, request, address))
			group_of[id] = (uint32_t)(request - requests->items);
	}
	all = lacking_samples(run->profile, group_of, requests->end, (uint32_t)requests->count,
			      samples);
	for (size_t i = 0; i < fetching->count; i++)
		fetching->modules[i].samples = samples[fetching->modules[i].index];
	return all;
}

/* Reports a wrong file. A server can send anything, and the cache keeps it. */
static void note_wrong_file(const struct fetched_names_run *run, struct symbol_request *request)
{
	const struct module *module = address_spaces_module(run->spaces, request->module);
	const struct fetched_file *file = fetched_files_find(run->files,
							     elf_file_build_id(module->elf));
	const char *used = request->reply ? reply_sources(request->reply).debug_file : NULL;

	if (file && file->fd >= 0 && !request->refused && (!used || strcmp(used, file->path) != 0))
		request->refused = xasprintf("%s is not its debug file: remove it", file->path);
}

static bool fetched_names_is_cancelled(const struct fetched_names_run *run)
{
	return run->cancel && atomic_load(run->cancel);
}

struct worker_cost fetched_names_run(const struct fetched_names_run *run)
{
	const struct symbol_requests *requests = run->requests;
	CLEANUP(free_ptr)
	struct fetching_module *modules = xcalloc(requests->count, sizeof(*modules));
	struct fetching fetching = {
		.fetcher = run->fetcher,
		.files = run->files,
		.modules = modules,
	};
	struct worker_cost cost = {0};

	for (size_t i = 0; i < requests->count; i++)
		if (is_fetchable(run, &requests->items[i]))
			modules[fetching.count++] = fetching_module_of(run, &requests->items[i]);
	fetching_select(&fetching, fetched_names_weigh(run, &fetching));
	for (unsigned i = 0; i < FETCHING_ROUNDS && fetching_round(&fetching); i++)
		worker_cost_add(&cost, ask_again(run, &fetching));
	for (size_t i = 0; i < fetching.count && !fetched_names_is_cancelled(run); i++)
		note_wrong_file(run, &requests->items[modules[i].index]);
	return cost;
}
