#include "profile/tasks.h"

#include "base/alloc.h"
#include "profile/task_name.h"

#include "unit_test.h"

#include <string.h>

static void assert_text(char *text, const char *expected)
{
	assert_string_equal(text ? text : "(none)", expected);
	free(text);
}

TEST(the_path_of_a_name_lacks_generic_arguments)
{
	static const char *const cases[][2] = {
		{"tokio::runtime::task::core::Core<T,S>::poll",
		 "tokio::runtime::task::core::Core::poll"},
		{"<tokio::runtime::task::core::Core<shop::main::{closure#0}, Arc<H>>>::poll",
		 "tokio::runtime::task::core::Core::poll"},
		{"tokio::runtime::task::raw::poll::<shop::cart::{closure#0}, Arc<H>>",
		 "tokio::runtime::task::raw::poll"},
		{"<core::pin::Pin<P> as core::future::future::Future>::poll",
		 "core::pin::Pin::poll"},
		{"<&mut shop::Cart as core::future::future::Future>::poll", "shop::Cart::poll"},
		{"<fn(u8) -> u8 as core::ops::function::FnOnce<(u8,)>>::call_once",
		 "fn(u8) -> u8::call_once"},
		{"runtime.goexit", "runtime.goexit"},
		{"<", ""},
		{"", ""},
		{">::<", ">"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_text(task_rule_path(cases[i][0]), cases[i][1]);
}

TEST(rules_are_found_by_path_and_by_file)
{
	static const struct {
		const char *name, *file;
		enum task_mark mark;
	} cases[] = {
		{"tokio::runtime::task::raw::poll", "", MARK_BEGIN},
		{"tokio::runtime::task::core::Core<T,S>::poll::{{closure}}", "", MARK_BEGIN},
		{"tokio::runtime::task::core::Core<T,S>::poller", "", MARK_GLUE},
		{"<rayon_core::job::StackJob<L,F,R> as rayon_core::job::Job>::execute", "",
		 MARK_BEGIN},
		{"runtime.goexit.abi0", "", MARK_BEGIN_NEXT},
		{"runtime.goexit0", "", MARK_GLUE},
		{"tokio::task::blocking::block_in_place", "", MARK_MAY_BLOCK},
		{"main.main.gowrap1", "", MARK_CALLER},
		{"shop::cart::{async_fn#0}", "/home/me/shop/src/main.rs", MARK_PROGRAM},
		{"<axum::serve::Serve<M,S> as X>::f::{async_block#4}", "", MARK_PROGRAM},
		{"axum::routing::route::RouteFuture<E>::poll", "", MARK_GLUE},
		{"tokio_postgres::connect", "", MARK_PROGRAM},
		/* Line tables only. */
		{"poll<shop::Cart>",
		 "/home/me/.cargo/registry/src/index.crates.io-1/tokio-1.38.0/src/task/core.rs",
		 MARK_GLUE},
		{"with<u8>", "/rustc/0123/library/std/src/thread/local.rs", MARK_GLUE},
		{"poll<u8>",
		 "/home/me/.cargo/registry/src/index.crates.io-1/tokio-postgres-0.7.1/src/x.rs",
		 MARK_PROGRAM},
		{"cart<u8>", "/home/me/shop/src/main.rs", MARK_PROGRAM},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (task_rule_of(cases[i].name, cases[i].file).mark != cases[i].mark)
			fail_msg("%s is %d", cases[i].name,
				 task_rule_of(cases[i].name, cases[i].file).mark);
}

TEST(the_type_is_the_programs_first_one)
{
	static const char *const cases[][2] = {
		{"poll<tokio::time::timeout::Timeout<shop::cart::{async_fn_env#0}>, Arc<H>>",
		 "shop::cart::{async_fn#0}"},
		{"{closure#0}<shop::main::{async_block#0}::{async_block_env#4}, alloc::sync::Arc>",
		 "shop::main::{async_block#0}::{async_block#4}"},
		{"poll<axum::serve::{impl#3}::into_future::{async_block_env#4}<u8>>",
		 "axum::serve::{impl#3}::into_future::{async_block#4}"},
		{"tokio::runtime::task::raw::poll::<shop::Cart, alloc::sync::Arc<H>>",
		 "shop::Cart"},
		{"tokio::runtime::task::core::Core<T,S>::poll", "(none)"},
		{"poll<core::pin::Pin<alloc::boxed::Box<dyn Future>>>", "(none)"},
		{"poll", "(none)"},
		{"poll<", "(none)"},
		{"poll<::", "(none)"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_text(task_rule_type(cases[i][0]), cases[i][1]);
}

TEST(tasks_are_called_as_people_call_them)
{
	static const char main_rs[] = "/home/me/shop/src/main.rs";
	static const struct {
		struct task_function function;
		enum task_kind kind;
		const char *expected;
	} cases[] = {
		{{"shop::cart::{async_fn#0}", main_rs, 3}, TASK_FUTURE, "shop::cart"},
		{{"<shop::Cart>::add::{async_fn#0}", main_rs, 3}, TASK_FUTURE, "shop::Cart::add"},
		{{"<shop::Cart as shop::Add>::add::{async_fn#0}", main_rs, 3},
		 TASK_FUTURE,
		 "<shop::Cart as shop::Add>::add"},
		{{"shop::main::{{closure}}::{async_block#2}", main_rs, 8},
		 TASK_FUTURE,
		 "async block src/main.rs:8"},
		{{"shop::main::{async_block#0}", main_rs, 8},
		 TASK_ROOT,
		 "async block src/main.rs:8 (block_on)"},
		{{"shop::main::{{closure}}", main_rs, 9},
		 TASK_BLOCKING,
		 "closure src/main.rs:9 (spawn_blocking)"},
		{{"shop::sum::{closure#1}", main_rs, 9}, TASK_JOB, "closure src/main.rs:9"},
		{{"<shop::Cart as core::future::future::Future>::poll", main_rs, 5},
		 TASK_FUTURE,
		 "shop::Cart"},
		{{"main.main.func1", "/home/me/main.go", 5}, TASK_GOROUTINE, "main.main.func1"},
		/* Without debug information. */
		{{"shop::cart::{{closure}}", "", 0}, TASK_FUTURE, "shop::cart"},
		{{"shop::cart::{closure#0}", "", 0}, TASK_FUTURE, "shop::cart"},
		{{"shop::main::{{closure}}::{{closure}}", "", 0},
		 TASK_FUTURE,
		 "async block of shop::main"},
		{{"shop::main::{async_block#0}::{async_block#4}", "", 0},
		 TASK_FUTURE,
		 "async block #0.4 of shop::main"},
		{{"shop::sum::{closure#1}", "", 0}, TASK_JOB, "closure #1 of shop::sum"},
		{{"{async_block#4}", main_rs, 0}, TASK_FUTURE, "async block src/main.rs"},
		{{"shop::crunch", "", 0}, TASK_FUTURE, "shop::crunch"},
		{{"", "", 0}, TASK_FUTURE, ""},
		{{"::", "", 0}, TASK_FUTURE, "::"},
		{{"<", "", 0}, TASK_FUTURE, "<"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_text(task_name(&cases[i].function, cases[i].kind), cases[i].expected);
}

TEST(files_are_called_as_in_their_package)
{
	static const char *const cases[][2] = {
		{"/home/me/shop/src/bin/a.rs", "src/bin/a.rs"},
		{"/home/me/shop/tests/targets/src/a.rs", "src/a.rs"},
		{"/home/me/shop/examples/a.rs", "examples/a.rs"},
		{"/home/me/.cargo/registry/src/index.crates.io-1/axum-0.7.5/src/serve.rs",
		 "axum-0.7.5/src/serve.rs"},
		{"/home/me/.cargo/git/checkouts/axum-12/34/axum/src/serve.rs", "axum/src/serve.rs"},
		{"src/main.rs", "src/main.rs"},
		{"/tmp/a.rs", "a.rs"},
		{"", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(task_file(cases[i][0]), cases[i][1]);
}

/* ---- stacks ---- */

static frame_id frame_of(struct profile *profile, const char *name)
{
	struct profile_function function = {.name = strtab_add(profile_strings(profile), name)};
	struct profile_line line;

	if (*name == '[')
		return profile_synthetic_frame(profile, name);
	function.system_name = function.name;
	line = (struct profile_line){.function = profile_function(profile, &function)};
	return profile_named_frame(profile, 0, 0, &line, 1);
}

/* names: from the root on, separated by ';'. */
static stack_id stack_of(struct profile *profile, const char *names)
{
	stack_id stack = STACK_EMPTY;
	CLEANUP(free_ptr) char *copy = xstrdup(names);
	char *rest = copy;

	for (char *name; (name = strsep(&rest, ";"));)
		stack = profile_push(profile, stack, frame_of(profile, name));
	return stack;
}

static struct profile *new_profile(void)
{
	struct profile *profile = profile_new();

	profile_describe_module(profile, 0, &(struct profile_module){.kind = PROFILE_MODULE_NONE});
	profile_add_event(
		profile,
		&(struct profile_event){.name = strtab_add(profile_strings(profile), "cpu-clock")});
	return profile;
}

#define POLL "tokio::runtime::task::raw::poll"
#define WORKER                                                                                     \
	POLL ";tokio::runtime::blocking::task::BlockingTask<T>::poll;"                             \
	     "tokio::runtime::scheduler::multi_thread::worker::run"

#define CONNECTION POLL ";shop::serve::{async_fn#0}"

TEST(the_innermost_task_of_a_stack_counts)
{
	static const struct {
		const char *names, *task;
		bool may_block;
	} cases[] = {
		{POLL ";shop::cart::{async_fn#0};shop::add", "shop::cart", false},
		{WORKER ";" POLL ";shop::cart::{async_fn#0}", "shop::cart", false},
		{WORKER ";tokio::runtime::park::Parker::park;shop::waker", NULL, false},
		{POLL ";tokio::runtime::blocking::task::BlockingTask<T>::poll;shop::main::"
		      "{closure#1}",
		 "closure #1 of shop::main (spawn_blocking)", false},
		{POLL ";shop::pay::{async_fn#0};tokio::task::blocking::block_in_place;shop::add",
		 "shop::pay", true},
		/* A future that a task awaits belongs to the task. */
		{POLL ";shop::cart::{async_fn#0};futures_executor::local_pool::block_on;"
		      "shop::pay::{async_fn#0}",
		 "shop::cart", false},
		{"futures_executor::local_pool::block_on;shop::pay::{async_fn#0}",
		 "shop::pay (block_on)", false},
		{"<rayon_core::job::HeapJob<B> as rayon_core::job::Job>::execute;shop::a::{{"
		 "closure}};"
		 "rayon_core::registry::wait_until;<rayon_core::job::StackJob<L,F,R> as "
		 "rayon_core::job::Job>::execute;shop::b::{{closure}}",
		 "closure of shop::b", false},
		{"runtime.goexit;main.main.gowrap1;main.work;main.add", "main.work", false},
		{"runtime.goexit;runtime.main;main.main", "main.main", false},
		{"runtime.goexit;runtime.bgsweep", "runtime.bgsweep", false},
		/* The waker of a thread belongs to another task. */
		{POLL ";shop::cart::{async_fn#0};[futex];[woken by x];" POLL
		      ";shop::pay::{async_fn#0}",
		 "shop::cart", false},
		/* A connection of axum's server. */
		{POLL ";<axum::serve::Serve<M,S> as core::future::into_future::IntoFuture>::"
		      "into_future::{{closure}}::{async_block#4};"
		      "<hyper::server::conn::http1::UpgradeableConnection<I,S> as "
		      "core::future::future::Future>::poll;"
		      "hyper::proto::h1::dispatch::Dispatcher<D,Bs,I,T>::poll_catch;"
		      "axum::routing::route::RouteFuture<E>::poll;shop::cart::{async_fn#0}",
		 "async block #4 of <axum::serve::Serve<M,S> as "
		 "core::future::into_future::IntoFuture>::into_future",
		 false},
		/* A handler of axum, and the server's work before it is called. */
		{CONNECTION ";axum::handler::future::IntoServiceFuture<F>::poll;"
			    "<F as axum::handler::Handler<M,S>>::call::{async_block#0};"
			    "shop::cart::{async_fn#0};shop::pay::{async_fn#0}",
		 "shop::cart", false},
		{CONNECTION ";axum::handler::future::IntoServiceFuture<F>::poll;"
			    "<F as axum::handler::Handler<M,S>>::call::{async_block#0};"
			    "serde_json::de::from_slice",
		 "shop::serve", false},
		{CONNECTION ";shop::middleware::{async_fn#0}", "shop::serve", false},
		{CONNECTION ";actix_web::handler::handler_service::{closure}::{async_block#0};"
			    "shop::cart::{{closure}}",
		 "shop::cart", false},
		{CONNECTION
		 ";tonic::server::grpc::Grpc<T>::unary::{async_fn#0};"
		 "<pb::HelloSvc<T> as tonic::server::service::UnaryService<R>>::call::"
		 "{async_block#0};<shop::Greeter as pb::Greeter>::hello::{async_block#0}",
		 "async block #0 of <shop::Greeter as pb::Greeter>::hello", false},
		{"main;shop::add", NULL, false},
	};
	CLEANUP(profile_cleanup) struct profile *profile = new_profile();
	stack_id stacks[ARRAY_SIZE(cases)];
	struct tasks tasks;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		stacks[i] = stack_of(profile, cases[i].names);
	tasks_find(&tasks, profile);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint32_t task = tasks.of_stack[stacks[i]];
		const char *name = task == NO_TASK ? "(none)" : tasks.items[task].name;

		assert_string_equal(name, cases[i].task ? cases[i].task : "(none)");
		assert_int_equal(tasks.may_block[stacks[i]], cases[i].may_block);
	}
	tasks_deinit(&tasks);
}

TEST(what_a_runtime_does_for_a_task_is_the_tasks)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_profile();
	stack_id known = stack_of(profile, POLL "::<A>;shop::cart::{async_fn#0}");
	stack_id own = stack_of(profile, POLL "::<A>;tokio::runtime::coop::budget");
	stack_id typed = stack_of(profile, POLL "::<shop::Pay>;tokio::runtime::coop::budget");
	stack_id several = stack_of(profile, POLL "::<B>;tokio::runtime::coop::budget");
	struct tasks tasks;

	stack_of(profile, POLL "::<B>;shop::cart::{async_fn#0}");
	stack_of(profile, POLL "::<B>;shop::pay::{async_fn#0}");
	tasks_find(&tasks, profile);
	assert_int_equal(tasks.of_stack[own], tasks.of_stack[known]);
	assert_string_equal(tasks.items[tasks.of_stack[typed]].name, "shop::Pay");
	assert_int_equal(tasks.of_stack[several], NO_TASK);
	tasks_deinit(&tasks);
}

/* Futures that await each other. Such a stack does not contain an executor. */
TEST(a_task_that_waits_is_the_outermost_future)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_profile();
	label_set_id labels = profile_thread_labels(profile, 1, 1, "a", "a");
	stack_id cart = stack_of(profile, "shop::cart::{async_fn#0};shop::pay::{async_fn#0};"
					  "tokio::time::sleep::Sleep");
	stack_id wrapped = stack_of(profile, "tokio::time::timeout::Timeout;"
					     "shop::pay::{async_fn#0}");
	stack_id glue = stack_of(profile, "tokio::time::sleep::Sleep");
	stack_id on_cpu = stack_of(profile, "main;shop::pay::{async_fn#0}");
	struct profile_event event = {
		.name = strtab_add(profile_strings(profile), VALUE_AWAIT_EVENT)};
	event_id await = profile_add_event(profile, &event);
	struct tasks tasks;

	profile_add(profile, labels, cart, await, 1);
	profile_add(profile, labels, wrapped, await, 1);
	profile_add(profile, labels, glue, await, 1);
	profile_add(profile, labels, on_cpu, 0, 1);
	tasks_find(&tasks, profile);
	assert_string_equal(tasks.items[tasks.of_stack[cart]].name, "shop::cart");
	assert_string_equal(tasks.items[tasks.of_stack[wrapped]].name, "shop::pay");
	assert_int_equal(tasks.of_stack[glue], NO_TASK);
	assert_int_equal(tasks.of_stack[on_cpu], NO_TASK);
	tasks_deinit(&tasks);
}

TEST(a_profile_without_tasks_stays_as_it_is)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_profile();
	label_set_id labels = profile_thread_labels(profile, 1, 2, "a", "b");

	profile_add(profile, labels, stack_of(profile, "main;shop::add"), 0, 1);
	tasks_label(profile);
	assert_int_equal(profile_label_set_count(profile), 1);
}

/* The labels in a file were written by the program that made it. */
TEST(labels_that_are_there_stay)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_profile();
	struct profile_label label = {.key = strtab_add(profile_strings(profile), TASK_LABEL)};
	label_set_id labels = profile_label_set(profile, &(struct profile_thread){0}, &label, 1);

	profile_add(profile, labels, stack_of(profile, POLL ";shop::cart::{async_fn#0}"), 0, 1);
	tasks_label(profile);
	assert_int_equal(profile_label_set_count(profile), 1);
}

TEST(labels_and_polls_follow_the_turns_of_each_thread)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_profile();
	stack_id cart = stack_of(profile, POLL ";shop::cart::{async_fn#0}");
	stack_id pay = stack_of(profile, POLL ";shop::pay::{async_fn#0}");
	label_set_id labels[] = {profile_thread_labels(profile, 1, 2, "a", "b"),
				 profile_thread_labels(profile, 1, 3, "a", "b")};
	const struct {
		unsigned thread;
		stack_id stack;
	} samples[] = {{0, cart}, {0, cart}, {1, pay}, {0, cart}, {0, pay}, {0, cart}};

	profile_keep_sample_order(profile);
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		profile_add_to_sample_order(
			profile, (pid_t)samples[i].thread,
			profile_add(profile, labels[samples[i].thread], samples[i].stack, 0, 1));
	tasks_label(profile);
	tasks_label(profile);
	assert_int_equal(profile_label_set_count(profile), 2 + 3);
	assert_int_equal(profile_polls_count(profile), 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(profile_get_polls(profile, i)->polls, 2);
	}
	for (uint64_t i = 0; i < profile_samples(profile).count; i++) {
		const struct profile_sample *sample = &profile_samples(profile).items[i];
		const struct profile_label_set *set = profile_get_label_set(profile,
									    sample->labels);

		assert_int_equal(set->count, 1);
		assert_string_equal(profile_string(profile, set->labels[0].text),
				    sample->stack == cart ? "shop::cart" : "shop::pay");
	}
}
