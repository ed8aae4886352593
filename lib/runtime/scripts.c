#include "runtime/scripts.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/idmap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
	/* Memory for texts: programs have a few MB. */
	SCRIPT_TEXT_BYTES_MAX = 64 << 20,
	SCRIPT_PROCESSES_MAX = 64 << 10,
	/* For one process. An interpreter that compiles all the time adds codes
	 * without end. */
	PROCESS_CODES_MAX = 64 << 10,
	PROCESS_THREADS_MAX = 16 << 10,
};

struct scripts_thread_state {
	pid_t own_tid;
	uint64_t state;
	struct script_places places;
};

struct scripts_process {
	struct runtime_process process;
	struct idmap threads; /* tid → index into states */
	struct scripts_thread_state *states;
	uint32_t state_count, state_room;
	struct idmap codes; /* (address and key) → id */
};

struct scripts_code {
	const struct script_runtime *runtime;
	struct script_text text;
};

struct scripts {
	const struct script_memory *memory;
	pthread_mutex_t lock;
	atomic_bool is_used;
	void (*changed)(void *context, pid_t pid, bool has); /* may be NULL */
	void *context;
	struct idmap pids; /* pid → index into processes */
	struct scripts_process **processes;
	uint32_t process_count, process_room;
	uint32_t *unused; /* indices of removed processes */
	uint32_t unused_count, unused_room;
	struct idmap texts; /* hash → id */
	struct scripts_code *codes;
	uint32_t code_count, code_room;
	size_t text_bytes;
};

struct scripts *scripts_new(const struct script_memory *memory)
{
	struct scripts *scripts = xcalloc(1, sizeof(*scripts));

	scripts->memory = memory;
	pthread_mutex_init(&scripts->lock, NULL);
	return scripts;
}

static void scripts_process_free(struct scripts_process *process)
{
	if (!process)
		return;
	idmap_deinit(&process->threads);
	idmap_deinit(&process->codes);
	free(process->states);
	free(process);
}

void script_text_deinit(struct script_text *text)
{
	free(text->name);
	free(text->file);
	free(text->lines);
	*text = (struct script_text){0};
}

void scripts_free(struct scripts *scripts)
{
	if (!scripts)
		return;
	for (uint32_t i = 0; i < scripts->process_count; i++)
		scripts_process_free(scripts->processes[i]);
	for (uint32_t i = 0; i < scripts->code_count; i++)
		script_text_deinit(&scripts->codes[i].text);
	free(scripts->processes);
	free(scripts->unused);
	free(scripts->codes);
	idmap_deinit(&scripts->pids);
	idmap_deinit(&scripts->texts);
	pthread_mutex_destroy(&scripts->lock);
	free(scripts);
}

const struct script_memory *scripts_memory(const struct scripts *scripts)
{
	return scripts->memory;
}

/* --- Processes ------------------------------------------------------------ */

static struct scripts_process *scripts_process_of(struct scripts *scripts, pid_t pid)
{
	uint32_t index = idmap_get(&scripts->pids, (uint64_t)pid, 0);

	return index == IDMAP_NONE ? NULL : scripts->processes[index];
}

static void scripts_drop_process(struct scripts *scripts, pid_t pid)
{
	uint32_t index = idmap_get(&scripts->pids, (uint64_t)pid, 0);

	if (index == IDMAP_NONE)
		return;
	scripts_process_free(STEAL(scripts->processes[index]));
	idmap_remove(&scripts->pids, (uint64_t)pid, 0);
	if (scripts->changed)
		scripts->changed(scripts->context, pid, false);
	GROW(scripts->unused, scripts->unused_count, scripts->unused_room);
	scripts->unused[scripts->unused_count++] = index;
}

static uint32_t scripts_new_index(struct scripts *scripts)
{
	if (scripts->unused_count)
		return scripts->unused[--scripts->unused_count];
	GROW(scripts->processes, scripts->process_count, scripts->process_room);
	return scripts->process_count++;
}

static void scripts_put_process(struct scripts *scripts, pid_t pid,
				const struct runtime_process *process)
{
	struct scripts_process *added;
	uint32_t index;

	scripts_drop_process(scripts, pid);
	if (scripts->process_count - scripts->unused_count >= SCRIPT_PROCESSES_MAX)
		return;
	added = xcalloc(1, sizeof(*added));
	added->process = *process;
	index = scripts_new_index(scripts);
	scripts->processes[index] = added;
	*idmap_put(&scripts->pids, (uint64_t)pid, 0) = index;
	atomic_store(&scripts->is_used, true);
	if (scripts->changed)
		scripts->changed(scripts->context, pid, true);
}

void scripts_watch(struct scripts *scripts, void (*changed)(void *context, pid_t pid, bool has),
		   void *context)
{
	scripts->changed = changed;
	scripts->context = context;
}

void scripts_add_process(struct scripts *scripts, pid_t pid, const struct runtime_process *process)
{
	pthread_mutex_lock(&scripts->lock);
	scripts_put_process(scripts, pid, process);
	pthread_mutex_unlock(&scripts->lock);
}

void scripts_fork(struct scripts *scripts, pid_t parent, pid_t child)
{
	struct scripts_process *process;

	if (!scripts_are_used(scripts))
		return;
	pthread_mutex_lock(&scripts->lock);
	process = scripts_process_of(scripts, parent);
	if (process)
		scripts_put_process(scripts, child, &process->process);
	pthread_mutex_unlock(&scripts->lock);
}

void scripts_remove_process(struct scripts *scripts, pid_t pid)
{
	if (!scripts_are_used(scripts))
		return;
	pthread_mutex_lock(&scripts->lock);
	scripts_drop_process(scripts, pid);
	pthread_mutex_unlock(&scripts->lock);
}

bool scripts_have_process(struct scripts *scripts, pid_t pid)
{
	bool have;

	if (!scripts_are_used(scripts))
		return false;
	pthread_mutex_lock(&scripts->lock);
	have = scripts_process_of(scripts, pid);
	pthread_mutex_unlock(&scripts->lock);
	return have;
}

bool scripts_are_used(const struct scripts *scripts)
{
	return atomic_load(&scripts->is_used);
}

bool scripts_find_thread(struct scripts *scripts, pid_t pid, pid_t tid, struct script_thread *ret)
{
	const struct scripts_process *process;
	uint32_t index;

	if (!scripts_are_used(scripts))
		return false;
	*ret = (struct script_thread){.pid = pid, .tid = tid};
	pthread_mutex_lock(&scripts->lock);
	process = scripts_process_of(scripts, pid);
	if (process) {
		ret->process = process->process;
		index = idmap_get(&process->threads, (uint64_t)tid, 0);
		if (index != IDMAP_NONE) {
			ret->own_tid = process->states[index].own_tid;
			ret->state = process->states[index].state;
			ret->places = process->states[index].places;
		}
	}
	pthread_mutex_unlock(&scripts->lock);
	return process;
}

void scripts_note_thread(struct scripts *scripts, const struct script_thread *thread)
{
	struct scripts_process *process;
	uint32_t *index;

	pthread_mutex_lock(&scripts->lock);
	process = scripts_process_of(scripts, thread->pid);
	if (process && process->state_count < PROCESS_THREADS_MAX) {
		index = idmap_put(&process->threads, (uint64_t)thread->tid, 0);
		if (*index == IDMAP_NONE) {
			GROW(process->states, process->state_count, process->state_room);
			*index = process->state_count++;
		}
		process->states[*index] = (struct scripts_thread_state){.own_tid = thread->own_tid,
									.state = thread->state,
									.places = thread->places};
	}
	pthread_mutex_unlock(&scripts->lock);
}

/* --- Code objects --------------------------------------------------------- */

static uint64_t code_key(const struct script_code *code)
{
	return hash_mix(code->key, code->address);
}

static uint32_t code_subkey(const struct script_code *code)
{
	return (uint32_t)(code->address >> 4) ^ (uint32_t)(code->key >> 32);
}

void scripts_find_codes(struct scripts *scripts, pid_t pid, struct script_code *codes,
			unsigned count)
{
	const struct scripts_process *process;

	pthread_mutex_lock(&scripts->lock);
	process = scripts_process_of(scripts, pid);
	for (unsigned i = 0; i < count; i++)
		codes[i].id = process ? idmap_get(&process->codes, code_key(&codes[i]),
						  code_subkey(&codes[i]))
				      : SCRIPT_NO_CODE;
	pthread_mutex_unlock(&scripts->lock);
}

static uint64_t text_hash(const struct script_text *text)
{
	uint64_t hash = hash_bytes_wide(text->name, strlen(text->name));

	hash = hash_mix(hash, hash_bytes_wide(text->file, strlen(text->file)));
	hash = hash_mix(hash, hash_bytes_wide(text->lines, text->line_bytes));
	return hash_mix(hash, text->first_line);
}

static bool is_same_text(const struct script_text *a, const struct script_text *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->file, b->file) &&
	       a->first_line == b->first_line && a->line_bytes == b->line_bytes &&
	       (!a->line_bytes || !memcmp(a->lines, b->lines, a->line_bytes));
}

/* Returns the id of the text, which can be that of an equal one. */
static uint32_t scripts_put_text(struct scripts *scripts, const struct script_runtime *runtime,
				 struct script_text *text)
{
	uint64_t hash = text_hash(text);
	size_t bytes = sizeof(struct scripts_code) + strlen(text->name) + strlen(text->file) +
		       text->line_bytes;

	for (uint32_t number = 0;; number++) {
		uint32_t id = idmap_get(&scripts->texts, hash, number);

		if (id == IDMAP_NONE) {
			if (scripts->text_bytes + bytes > SCRIPT_TEXT_BYTES_MAX)
				return SCRIPT_NO_CODE;
			*idmap_put(&scripts->texts, hash, number) = scripts->code_count;
			break;
		}
		if (scripts->codes[id].runtime == runtime &&
		    is_same_text(&scripts->codes[id].text, text))
			return id;
	}
	scripts->text_bytes += bytes;
	GROW(scripts->codes, scripts->code_count, scripts->code_room);
	scripts->codes[scripts->code_count] = (struct scripts_code){.runtime = runtime,
								    .text = *text};
	*text = (struct script_text){0};
	return scripts->code_count++;
}

uint32_t scripts_add_code(struct scripts *scripts, pid_t pid, const struct script_code *code,
			  const struct script_runtime *runtime, struct script_text *text)
{
	uint32_t id = SCRIPT_NO_CODE;
	struct scripts_process *process;

	pthread_mutex_lock(&scripts->lock);
	process = scripts_process_of(scripts, pid);
	if (process && process->codes.count >= PROCESS_CODES_MAX)
		idmap_deinit(&process->codes);
	if (process)
		id = scripts_put_text(scripts, runtime, text);
	if (id != SCRIPT_NO_CODE)
		*idmap_put(&process->codes, code_key(code), code_subkey(code)) = id;
	pthread_mutex_unlock(&scripts->lock);
	script_text_deinit(text);
	return id;
}

struct script_place scripts_place(struct scripts *scripts, uint32_t code, int32_t unit)
{
	struct script_place place = {.name = "", .file = ""};

	pthread_mutex_lock(&scripts->lock);
	if (code < scripts->code_count) {
		const struct scripts_code *found = &scripts->codes[code];

		place = (struct script_place){
			.name = found->text.name,
			.file = found->text.file,
			.first_line = found->text.first_line,
			.line = found->runtime->line(&found->text, unit),
		};
	}
	pthread_mutex_unlock(&scripts->lock);
	return place;
}
