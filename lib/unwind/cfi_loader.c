#include "unwind/cfi_loader.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/quiet_thread.h"
#include "base/thread_state.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * How long cfi_loader_free() waits for a thread that sleeps, and how much CPU
 * time it grants to one that does not. Threads check `stop` every few
 * microseconds of CPU time.
 */
#define END_NS (200 * NS_PER_MS)
/* How often the state of the thread is read during that time. */
enum { END_LOOKS = 20 };
/* Longer than a disk needs to spin up or a server to restart. */
#define STANDSTILL_NS (10 * NS_PER_SECOND)

struct cfi_load {
	struct cfi_loader_thread *thread;
	struct cfi_load *next;
	const struct arch *arch;
	struct elf_file *elf; /* its own view of the file */
	/* NULL to load the file itself, not its debug file. */
	struct debug_files *debug_files;
	struct loaded_cfi loaded;
	atomic_bool is_done;
};

/* Allocated separately, because it can outlive the loader. */
struct cfi_loader_thread {
	pthread_t id;
	bool has_started;
	pthread_mutex_t mutex; /* protects the following members */
	pthread_cond_t changed;
	pid_t tid; /* 0 before it has run */
	/* Requests whose results were not taken, in their order. */
	struct cfi_load *first, *last;
	struct cfi_load *in_progress; /* the first one that is not done, or NULL */
	bool has_ended;
	atomic_bool stop;
	struct timed_caller *caller;
	/* Used only by the thread that unwinds. */
	unsigned not_taken; /* number of requests whose results were not taken */
	uid_t owner;	    /* owner of the files, for a thread that loads untrusted files */
	/* The last observed CPU time, and when it was first observed. */
	uint64_t used_ns, used_since_ns;
};

struct cfi_loader {
	const struct arch *arch;
	/*
	 * Shared by everything that is loaded. Not freed while abandoned
	 * threads exist.
	 */
	struct unpack_budget *budget;
	struct cfi_loader_thread *own, *untrusted[CFI_LOADER_UNTRUSTED];
	uid_t hung[CFI_LOADER_LEFT_BEHIND]; /* owners of the files of abandoned threads */
	unsigned hung_count;
};

static struct cfi_loader_thread *thread_new(void)
{
	struct cfi_loader_thread *thread = xcalloc(1, sizeof(*thread));
	pthread_condattr_t attr;

	thread->caller = timed_caller_new();
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&thread->mutex, NULL);
	pthread_cond_init(&thread->changed, &attr);
	pthread_condattr_destroy(&attr);
	return thread;
}

struct cfi_loader *cfi_loader_new(const struct arch *arch)
{
	struct cfi_loader *loader = xcalloc(1, sizeof(*loader));

	loader->arch = arch;
	loader->budget = xmalloc(sizeof(*loader->budget));
	unpack_budget_init(loader->budget);
	loader->own = thread_new();
	for (unsigned i = 0; i < CFI_LOADER_UNTRUSTED; i++)
		loader->untrusted[i] = thread_new();
	return loader;
}

static void load_free(struct cfi_load *load)
{
	cfi_free(load->loaded.cfi);
	elf_file_free(load->loaded.elf);
	functions_free(load->loaded.functions);
	elf_file_free(load->elf);
	debug_files_free(load->debug_files);
	free(load);
}

static void thread_free(struct cfi_loader_thread *thread)
{
	while (thread->first) {
		struct cfi_load *load = thread->first;

		thread->first = load->next;
		load_free(load);
	}
	pthread_mutex_destroy(&thread->mutex);
	pthread_cond_destroy(&thread->changed);
	timed_caller_free(thread->caller);
	free(thread);
}

static void thread_stop(struct cfi_loader_thread *thread)
{
	pthread_mutex_lock(&thread->mutex);
	atomic_store(&thread->stop, true);
	pthread_cond_broadcast(&thread->changed);
	pthread_mutex_unlock(&thread->mutex);
}

/* Returns 0 if the clock cannot be read. */
static uint64_t cfi_loader_cpu_ns(const struct cfi_loader_thread *thread)
{
	clockid_t clock;

	return thread->has_started && !pthread_getcpuclockid(thread->id, &clock)
		       ? clock_read_ns(clock)
		       : 0;
}

/*
 * Ends the thread and frees its requests. Returns false if the thread was
 * abandoned. One that is only runnable, because the machine is busy, is not.
 */
static bool thread_end(struct cfi_loader_thread *thread)
{
	uint64_t most_cpu_ns;
	unsigned looks = 0;
	bool has_ended;

	pthread_mutex_lock(&thread->mutex);
	most_cpu_ns = cfi_loader_cpu_ns(thread) + END_NS;
	while (thread->has_started && !thread->has_ended && looks < END_LOOKS &&
	       cfi_loader_cpu_ns(thread) < most_cpu_ns) {
		const struct timespec until = clock_wait_end(END_NS / END_LOOKS);

		if (pthread_cond_timedwait(&thread->changed, &thread->mutex, &until) != 0)
			looks += thread_is_asleep(thread->tid);
	}
	has_ended = thread->has_ended || !thread->has_started;
	pthread_mutex_unlock(&thread->mutex);
	if (!has_ended) {
		pthread_detach(thread->id);
		return false;
	}
	if (thread->has_started)
		pthread_join(thread->id, NULL);
	thread_free(thread);
	return true;
}

void cfi_loader_free(struct cfi_loader *loader)
{
	bool all_ended;

	if (!loader)
		return;
	all_ended = !loader->hung_count;

	thread_stop(loader->own);
	for (unsigned i = 0; i < CFI_LOADER_UNTRUSTED; i++)
		thread_stop(loader->untrusted[i]);
	all_ended &= thread_end(loader->own);
	for (unsigned i = 0; i < CFI_LOADER_UNTRUSTED; i++)
		all_ended &= thread_end(loader->untrusted[i]);
	if (all_ended)
		free(loader->budget);
	free(loader);
}

/* --- In the thread -------------------------------------------------------- */

static struct elf_file *find_debug_file(struct cfi_load *load)
{
	const struct debugfile_opener opener = debug_files_opener(load->debug_files);

	return debugfile_find(load->elf, &opener);
}

static void cfi_loader_work_on(struct cfi_load *load)
{
	struct loaded_cfi *loaded = &load->loaded;

	if (!loaded->cfi) {
		loaded->elf = load->debug_files ? find_debug_file(load) : STEAL(load->elf);
		if (loaded->elf && elf_file_changed(loaded->elf))
			elf_file_free(STEAL(loaded->elf));
		if (load->debug_files && load->arch == &arch_x86_64 && !elf_file_changed(load->elf))
			loaded->functions = functions_new(load->elf, loaded->elf);
		if (!loaded->elf)
			return;
		loaded->cfi = cfi_new(loaded->elf, load->arch);
		if (elf_file_is_untrusted(loaded->elf))
			elf_file_free(STEAL(loaded->elf));
	}
	cfi_index(loaded->cfi, &load->thread->stop);
}

static void *cfi_loader_run(void *context)
{
	struct cfi_loader_thread *thread = context;

	pthread_mutex_lock(&thread->mutex);
	thread->tid = (pid_t)syscall(SYS_gettid);
	while (!atomic_load(&thread->stop)) {
		struct cfi_load *load = thread->in_progress;
		uint64_t begin_ns;

		if (!load) {
			pthread_cond_wait(&thread->changed, &thread->mutex);
			continue;
		}
		pthread_mutex_unlock(&thread->mutex);
		begin_ns = clock_thread_cpu_ns();
		cfi_loader_work_on(load);
		load->loaded.cpu_ns = clock_thread_cpu_ns() - begin_ns;
		pthread_mutex_lock(&thread->mutex);
		/*
		 * The load belongs to this thread until here. If the loader is
		 * being freed, the load stays in the list, and thread_end()
		 * frees it.
		 */
		if (atomic_load(&thread->stop))
			break;
		thread->in_progress = load->next;
		atomic_store(&load->is_done, true);
		pthread_cond_broadcast(&thread->changed);
	}
	thread->has_ended = true;
	pthread_cond_broadcast(&thread->changed);
	pthread_mutex_unlock(&thread->mutex);
	return NULL;
}

/* --- Requests ------------------------------------------------------------- */

static struct cfi_load *request(struct cfi_loader_thread *thread, struct cfi_load request)
{
	struct cfi_load *load = xmalloc(sizeof(*load));

	*load = request;
	load->thread = thread;
	thread->not_taken++;
	thread->used_ns = 0;
	thread->used_since_ns = clock_now_ns();
	if (!thread->has_started)
		thread->has_started = quiet_thread_start(&thread->id, cfi_loader_run, thread);
	pthread_mutex_lock(&thread->mutex);
	if (thread->first)
		thread->last->next = load;
	else
		thread->first = load;
	thread->last = load;
	if (!thread->in_progress)
		thread->in_progress = load;
	pthread_cond_broadcast(&thread->changed);
	pthread_mutex_unlock(&thread->mutex);
	return load;
}

/*
 * Returns true if the thread has not used any CPU time for STANDSTILL_NS, as
 * far as observed.
 */
static bool stands_still(struct cfi_loader_thread *thread)
{
	uint64_t now_ns = clock_now_ns(), used_ns;
	clockid_t clock;

	if (!thread->has_started || pthread_getcpuclockid(thread->id, &clock))
		return true;
	used_ns = clock_read_ns(clock);
	if (used_ns > thread->used_ns) {
		thread->used_ns = used_ns;
		thread->used_since_ns = now_ns;
	}
	return now_ns - thread->used_since_ns >= STANDSTILL_NS;
}

/* Replaces a thread that hangs with a new one. */
static bool cfi_loader_replace(struct cfi_loader *loader, struct cfi_loader_thread **at)
{
	if (loader->hung_count == CFI_LOADER_LEFT_BEHIND || !stands_still(*at))
		return false;
	thread_stop(*at);
	if ((*at)->has_started)
		pthread_detach((*at)->id);
	loader->hung[loader->hung_count++] = (*at)->owner;
	*at = thread_new();
	return true;
}

static struct cfi_loader_thread *take_untrusted(struct cfi_loader *loader, uid_t owner)
{
	struct cfi_loader_thread *found = NULL;

	for (unsigned i = 0; i < loader->hung_count; i++)
		if (loader->hung[i] == owner)
			return NULL;
	for (unsigned i = 0; i < CFI_LOADER_UNTRUSTED; i++) {
		struct cfi_loader_thread **at = &loader->untrusted[i];

		if (!(*at)->not_taken || cfi_loader_replace(loader, at))
			found = *at;
		else if ((*at)->owner == owner)
			return NULL;
	}
	if (found)
		found->owner = owner;
	return found;
}

/* Returns NULL if no thread is free. */
static struct cfi_loader_thread *thread_for(struct cfi_loader *loader, const struct elf_file *elf)
{
	return elf_file_is_untrusted(elf) ? take_untrusted(loader, elf_file_owner(elf))
					  : loader->own;
}

static struct elf_file *cfi_loader_share(struct cfi_loader *loader, const struct elf_file *elf)
{
	struct elf_file *shared = elf_file_share(elf);

	elf_file_set_budget(shared, loader->budget);
	return shared;
}

struct cfi_load *cfi_loader_open(struct cfi_loader *loader, const struct elf_file *elf)
{
	struct cfi_loader_thread *thread = thread_for(loader, elf);

	if (!thread)
		return NULL;
	return request(thread, (struct cfi_load){.arch = loader->arch,
						 .elf = cfi_loader_share(loader, elf)});
}

struct cfi_load *cfi_loader_index(struct cfi_loader *loader, struct cfi *cfi)
{
	return request(loader->own, (struct cfi_load){.arch = loader->arch, .loaded.cfi = cfi});
}

struct cfi_load *cfi_loader_open_debug_file(struct cfi_loader *loader, const struct elf_file *elf,
					    const struct debug_files *files)
{
	struct cfi_loader_thread *thread = thread_for(loader, elf);

	if (!thread)
		return NULL;
	return request(thread, (struct cfi_load){
				       .arch = loader->arch,
				       .elf = cfi_loader_share(loader, elf),
				       .debug_files = debug_files_copy(files, thread->caller),
			       });
}

bool cfi_load_is_done(const struct cfi_load *load)
{
	return atomic_load(&load->is_done);
}

bool cfi_load_wait(struct cfi_load *load, uint64_t timeout_ns)
{
	const struct timespec until = clock_wait_end(timeout_ns);
	struct cfi_loader_thread *thread = load->thread;

	pthread_mutex_lock(&thread->mutex);
	while (!cfi_load_is_done(load) &&
	       pthread_cond_timedwait(&thread->changed, &thread->mutex, &until) == 0)
		;
	pthread_mutex_unlock(&thread->mutex);
	return cfi_load_is_done(load);
}

bool cfi_load_wait_long(struct cfi_load *load)
{
	while (!cfi_load_wait(load, NS_PER_SECOND))
		if (stands_still(load->thread))
			return false;
	return true;
}

static void cfi_loader_unlink(struct cfi_loader_thread *thread, struct cfi_load *load)
{
	struct cfi_load **at = &thread->first, *before = NULL;

	pthread_mutex_lock(&thread->mutex);
	for (; *at != load; at = &before->next)
		before = *at;
	*at = load->next;
	if (thread->last == load)
		thread->last = before;
	pthread_mutex_unlock(&thread->mutex);
}

struct loaded_cfi cfi_load_take(struct cfi_load *load)
{
	struct loaded_cfi loaded = load->loaded;

	cfi_loader_unlink(load->thread, load);
	load->loaded = (struct loaded_cfi){0};
	load->thread->not_taken--;
	load_free(load);
	return loaded;
}
