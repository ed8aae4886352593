#include "profile/code_origin.h"

#include "base/alloc.h"
#include "profile/code_rules.h"

#include "unit_test.h"

#include <stdbool.h>
#include <string.h>

TEST(a_library_is_known_by_its_file_or_its_names)
{
	static const struct {
		const char *module, *name;
		enum code_origin origin;
	} cases[] = {
		{"libc.so.6", "poll", ORIGIN_C_LIBRARY},
		{"libcurl.so.4", "curl_easy_perform", ORIGIN_PROGRAM},
		{"libpthread-2.31.so", "pthread_cond_wait", ORIGIN_C_LIBRARY},
		{"app", "main", ORIGIN_PROGRAM},
		{"app", "__futex_abstimed_wait_common", ORIGIN_C_LIBRARY},
		{"app", "std::sys::pal::unix::futex::futex_wait", ORIGIN_RUNTIME},
		{"app", "<std::io::Stdin as std::io::Read>::read", ORIGIN_RUNTIME},
		{"app", "<app::Queue as core::iter::Iterator>::next", ORIGIN_PROGRAM},
		{"app", "void std::__invoke_impl<void, app::Job>(app::Job&&)", ORIGIN_RUNTIME},
		{"app", "std::vector<int> app::wait_for<int>(int)", ORIGIN_PROGRAM},
		{"app", "app::run [clone .cold]", ORIGIN_PROGRAM},
		{"app", "runtime.gopark", ORIGIN_RUNTIME},
		{"app", "runtime.futexsleep", ORIGIN_C_LIBRARY},
		{"app", "internal/runtime/syscall.Syscall6", ORIGIN_C_LIBRARY},
		{"app", "internal/runtime/syscall/linux.Syscall6", ORIGIN_C_LIBRARY},
		{"app", "runtime.netpoll", ORIGIN_C_LIBRARY},
		{"app", "main.serve", ORIGIN_PROGRAM},
		{"[jit]", "void Bank$Ledger.transfer(int, int, long)", ORIGIN_PROGRAM},
		{"[jit]", "void java.lang.Thread.sleep(long)", ORIGIN_RUNTIME},
		{"[jit]", "monitorenter_nofpu Runtime1 stub", ORIGIN_RUNTIME},
		{"[jit]", "_complete_monitor_locking_Java", ORIGIN_RUNTIME},
		{"[jit]", "StubRoutines (1)", ORIGIN_RUNTIME},
		{"[jit]", "Interpreter", ORIGIN_RUNTIME},
		{"[jit]", "SafepointBlob", ORIGIN_RUNTIME},
		{"libpython3.13.so.1.0", "PyDict_GetItem", ORIGIN_RUNTIME},
		{"python3.11", "list_sort", ORIGIN_RUNTIME},
		{"app", "list_sort", ORIGIN_PROGRAM},
		{"app", "Interpreter::run()", ORIGIN_PROGRAM},
		{"libjvm.so", "os::PlatformEvent::park()", ORIGIN_C_LIBRARY},
		{"libjvm.so", "Parker::park(bool, long)", ORIGIN_RUNTIME},
		{"app", "stdin_reader", ORIGIN_PROGRAM},
		{"[jit]", "py::get:/usr/lib/python3.11/queue.py", ORIGIN_RUNTIME},
		{"[jit]", "py::get:/usr/lib/python3.11/site-packages/app/queue.py", ORIGIN_PROGRAM},
		{"[jit]", "py::_find_spec:<frozen importlib._bootstrap>", ORIGIN_RUNTIME},
		{"[jit]", "py::consume:/srv/app.py", ORIGIN_PROGRAM},
		{"", "", ORIGIN_PROGRAM},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (code_origin_of(cases[i].module, cases[i].name) != cases[i].origin)
			fail_msg("%s in %s", cases[i].name, cases[i].module);
}

/* The names come from recordings: tokio 1.38 to 1.48, rayon, futures,
 * libstdc++, Go 1.24. */
TEST(glue_is_told_from_work_and_from_the_program)
{
	static const struct {
		const char *name;
		enum code_role role;
	} cases[] = {
		/* Starts of programs and threads. */
		{"_start", ROLE_ENTRY},
		{"_start_server", ROLE_PROGRAM},
		{"__libc_start_main@@GLIBC_2.34", ROLE_ENTRY},
		{"__libc_start_call_main", ROLE_ENTRY},
		{"start_thread", ROLE_ENTRY},
		{"start_thread_pool", ROLE_PROGRAM},
		{"clone3", ROLE_ENTRY},
		{"clone_tree(tree const&)", ROLE_PROGRAM},
		{"main", ROLE_PROGRAM},
		{"std::rt::lang_start::{{closure}}", ROLE_ENTRY},
		{"<std::sys::thread::unix::Thread>::new::thread_start", ROLE_ENTRY},
		{"std::thread::Builder::spawn_unchecked_::{{closure}}", ROLE_ENTRY},
		{"std::sys::backtrace::__rust_begin_short_backtrace", ROLE_ADAPTOR},
		{"__rust_try", ROLE_ADAPTOR},
		{"std::panicking::catch_unwind::do_call", ROLE_ADAPTOR},
		{"std::panicking::begin_panic_handler", ROLE_WORK},
		/* Calls. */
		{"core::ops::function::FnOnce::call_once{{vtable.shim}}", ROLE_ADAPTOR},
		{"<shop::main::{closure#0} as core::ops::function::FnOnce<()>>::call_once",
		 ROLE_ADAPTOR},
		{"<alloc::boxed::Box<dyn core::ops::function::FnOnce<(), Output = ()> + "
		 "core::marker::Send> as core::ops::function::FnOnce<()>>::call_once",
		 ROLE_ADAPTOR},
		{"<alloc::boxed::Box<dyn core::ops::function::Fn(u8) -> u8>>::new", ROLE_ADAPTOR},
		{"<core::panic::unwind_safe::AssertUnwindSafe<F> as "
		 "core::ops::function::FnOnce<()>>::call_once",
		 ROLE_ADAPTOR},
		{"<core::pin::Pin<P> as core::future::future::Future>::poll", ROLE_ADAPTOR},
		{"<&mut F as core::future::future::Future>::poll", ROLE_ADAPTOR},
		{"<shop::Query as core::future::future::Future>::poll", ROLE_PROGRAM},
		{"<T as shop::Handler>::handle", ROLE_PROGRAM},
		{"std::thread::local::LocalKey<T>::with", ROLE_ADAPTOR},
		/* Operators. */
		{"core::iter::range::<impl core::iter::traits::iterator::Iterator for "
		 "core::ops::range::Range<A>>::next",
		 ROLE_ADAPTOR},
		{"<i32 as core::cmp::PartialOrd>::lt", ROLE_ADAPTOR},
		{"<u64>::wrapping_add", ROLE_ADAPTOR},
		{"<core::iter::adapters::map::Map<I,F> as "
		 "core::iter::traits::iterator::Iterator>::next",
		 ROLE_ADAPTOR},
		{"core::option::Option<T>::map", ROLE_ADAPTOR},
		/* Work. */
		{"std::collections::hash::map::HashMap<K,V,S,A>::insert", ROLE_WORK},
		{"hashbrown::map::make_hash", ROLE_WORK},
		{"<core::hash::sip::Hasher<S> as core::hash::Hasher>::write", ROLE_WORK},
		{"core::ptr::drop_in_place<shop::handler::{{closure}}>", ROLE_WORK},
		{"alloc::vec::Vec<T,A>::with_capacity_in", ROLE_WORK},
		{"std::sys::sync::mutex::futex::Mutex::lock_contended", ROLE_WORK},
		{"std::thread::sleep", ROLE_WORK},
		{"<alloc::alloc::Global as core::alloc::Allocator>::allocate", ROLE_ADAPTOR},
		{"__memcpy_avx512_unaligned_erms", ROLE_WORK},
		/* Wrappers of malloc() in programs. */
		{"zmalloc_usable", ROLE_WORK},
		{"PyMem_RawMalloc", ROLE_WORK},
		{"palloc0", ROLE_WORK},
		{"ngx_palloc", ROLE_WORK},
		{"pallor", ROLE_PROGRAM},
		{"core::slice::sort::unstable::quicksort::quicksort", ROLE_PROGRAM},
		/* Runtimes. */
		{"tokio::runtime::task::core::Core<T,S>::poll::{{closure}}", ROLE_SCHEDULER},
		{"<tokio::runtime::blocking::task::BlockingTask<T> as "
		 "core::future::future::Future>::poll",
		 ROLE_SCHEDULER},
		{"tokio::loom::std::unsafe_cell::UnsafeCell<T>::with_mut", ROLE_ADAPTOR},
		{"tokio::sync::mutex::Mutex<T>::lock::{{closure}}", ROLE_WORK},
		{"tokio_postgres::query::query", ROLE_PROGRAM},
		{"rayon_core::join::join_context::call_b::{{closure}}", ROLE_SCHEDULER},
		{"rayon::iter::plumbing::bridge_producer_consumer::helper", ROLE_ADAPTOR},
		{"rayon::slice::mergesort::par_merge", ROLE_PROGRAM},
		{"<futures_util::stream::futures_unordered::FuturesUnordered<Fut> as "
		 "futures_core::stream::Stream>::poll_next",
		 ROLE_ADAPTOR},
		{"async_task::raw::RawTask<F,T,S,M>::run", ROLE_SCHEDULER},
		{"hyper::proto::h1::dispatch::Dispatcher<D,Bs,I,T>::poll_catch", ROLE_PROGRAM},
		/* C++. */
		{"void std::__invoke_impl<void, app::Job>(app::Job&&)", ROLE_ADAPTOR},
		{"std::__invoke_result<void (app::Job::*)(), app::Job*>::type "
		 "std::__invoke<void (app::Job::*)(), app::Job*>(void (app::Job::*&&)(), "
		 "app::Job*&&)",
		 ROLE_ADAPTOR},
		{"std::thread::_State_impl<std::thread::_Invoker<std::tuple<app::Job> > "
		 ">::_M_run()",
		 ROLE_ENTRY},
		{"std::_Function_handler<void (), app::Job>::_M_invoke(std::_Any_data const&)",
		 ROLE_ADAPTOR},
		{"std::function<unsigned long (unsigned long)>::operator()(unsigned long) const",
		 ROLE_ADAPTOR},
		{"std::function::operator()", ROLE_ADAPTOR},
		{"std::functional_unit::run", ROLE_WORK},
		{"main::{lambda()#1}::operator()() const", ROLE_PROGRAM},
		{"std::vector<int, std::allocator<int> >::push_back(int const&)", ROLE_WORK},
		/* Go. */
		{"runtime.goexit", ROLE_ENTRY},
		{"runtime.goexit0", ROLE_SCHEDULER},
		{"runtime.main", ROLE_ENTRY},
		{"runtime.findRunnable", ROLE_SCHEDULER},
		{"runtime.gcBgMarkWorker", ROLE_WORK},
		{"runtime.mallocgc", ROLE_WORK},
		{"sync.(*Once).doSlow", ROLE_ADAPTOR},
		{"sync.(*Mutex).lockSlow", ROLE_WORK},
		{"main.main.func1", ROLE_PROGRAM},
		/* Not function names. */
		{"", ROLE_PROGRAM},
		{"<", ROLE_ADAPTOR},
		{"<<<<", ROLE_ADAPTOR},
		{"< as ", ROLE_PROGRAM},
		{"$", ROLE_PROGRAM},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (code_class_of("app", cases[i].name).role != cases[i].role)
			fail_msg("%s has role %d", cases[i].name,
				 (int)code_class_of("app", cases[i].name).role);
}

TEST(a_library_of_the_system_does_work_unless_a_rule_says_otherwise)
{
	assert_int_equal(code_class_of("libc.so.6", "qsort").role, ROLE_WORK);
	assert_int_equal(code_class_of("libc.so.6", "start_thread").role, ROLE_ENTRY);
	assert_int_equal(code_class_of("libstdc++.so.6", "[libstdc++.so.6+0x12]").role, ROLE_WORK);
	assert_int_equal(code_class_of("libstdc++.so.6", "std::thread::join()").role, ROLE_WORK);
	assert_int_equal(code_class_of("libz.so.1", "inflate").role, ROLE_PROGRAM);
}

TEST(a_function_of_an_interpreter_that_calls_its_language_is_glue)
{
	static const struct {
		const char *module, *name, *runtime;
	} cases[] = {
		{"libpython3.13.so.1.0", "_PyEval_EvalFrameDefault", "Python"},
		{"python3.11", "thread_run", "Python"},
		{"python3.13", "slot_tp_init", "Python"},
		{"python3.13", "PyGen_am_send", "Python"},
		{"app", "thread_run", NULL},
		{"libjvm.so", "JavaCalls::call_helper(JavaValue*, methodHandle const&)", "Java"},
		{"[jit]", "Interpreter", "Java"},
		{"libpython3.13.so.1.0", "PyDict_GetItem", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct code_class class = code_class_of(cases[i].module, cases[i].name);

		if (!cases[i].runtime && class.role == ROLE_ENTRY)
			fail_msg("%s", cases[i].name);
		if (cases[i].runtime) {
			assert_int_equal(class.role, ROLE_ENTRY);
			assert_string_equal(class.runtime, cases[i].runtime);
		}
	}
}

TEST(entries_and_schedulers_name_their_runtime)
{
	for (size_t i = 0; i < code_rule_count; i++) {
		const struct code_class *class = &code_rules[i].class;
		bool has_name = class->role == ROLE_ENTRY || class->role == ROLE_SCHEDULER;

		if (has_name != (class->runtime != NULL))
			fail_msg("%s", code_rules[i].name);
	}
}

/* A rule that is covered by an earlier one would never be used. */
TEST(every_rule_can_match)
{
	for (size_t i = 0; i < code_rule_count; i++)
		for (size_t j = 0; j < i; j++)
			if (!strncmp(code_rules[i].name, code_rules[j].name,
				     strlen(code_rules[j].name)))
				fail_msg("%s after %s", code_rules[i].name, code_rules[j].name);
}
