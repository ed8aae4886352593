/*
 * Asks a running Java virtual machine (HotSpot) to list its compiled code in
 * /tmp/perf-PID.map (proc/jit_map.h), like `jcmd PID Compiler.perfmap`. JDK 17
 * and later support this.
 *
 * The attach protocol has three steps. The client creates the file
 * .attach_pidPID in /tmp of the VM's root directory, where PID is the VM's own
 * pid. It sends SIGQUIT, upon which the VM finds the file and opens the socket
 * .java_pidPID in the same directory. Request and answer go through that
 * socket. Source: attachListener_posix.cpp (attachListener_linux.cpp up to JDK
 * 20) and VirtualMachineImpl.java of OpenJDK.
 *
 * SIGQUIT kills a process that does not handle it. A VM that finds no such
 * file, or does not allow attaching, prints a thread dump instead. The signal
 * is therefore sent through a pidfd, after the file was created, and only if
 * all of these hold:
 *  - The process maps HotSpot's libjvm.so and is not stopped.
 *  - It catches SIGQUIT and has HotSpot's thread for it ("Signal Dispatcher").
 *  - Its command line does not contain -XX:+DisableAttachMechanism.
 *
 * A VM that handles no signals (-Xrs) has its socket from the start and gets no
 * signal. A VM still prints a thread dump if the option was set elsewhere
 * (JAVA_TOOL_OPTIONS) or if it takes the signal after the deadline. jcmd has
 * the same effect.
 *
 * All this happens in a child of prof, with the effective user and group of the
 * VM, no capabilities and none of prof's open files. It is therefore safe for
 * root to ask the VMs of all users. Whatever a process puts at the path of its
 * socket or files gains nothing that its user could not do anyway. A VM that
 * does not answer blocks only the child, until the deadline. The child creates
 * no file other than .attach_pidPID, and removes it.
 */
#ifndef PROF_RECORD_JAVA_ATTACH_H
#define PROF_RECORD_JAVA_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct elf_file;

enum java_answer {
	JAVA_ANSWERED, /* the list was written, if the VM could create the file */
	JAVA_ENDED,
	JAVA_UNTRUSTED, /* owned by another user, and prof is not run by root or asks only own VMs
			 */
	JAVA_NO_JVM,	/* maps a file named libjvm.so, but is not HotSpot */
	JAVA_UNHANDLED, /* does not handle SIGQUIT */
	JAVA_DISABLED,	/* has -XX:+DisableAttachMechanism */
	JAVA_STOPPED,	/* stopped by a signal or a debugger */
	JAVA_SILENT,	/* no answer before the deadline */
	JAVA_REFUSED,	/* does not know the command, or could not run it */
	JAVA_FAILED,	/* a system call is missing, or its user cannot write to its /tmp */
};

/* A request to one VM. */
struct java_attach {
	pid_t pid;
	pid_t child; /* 0 if it could not be started */
	uint64_t deadline_ns;
};

/* Starts a request. libjvm is the libjvm.so that pid maps; deadline_ns is in
 * clock_now_ns(). own_only: a VM that belongs neither to prof's user nor to the
 * caller of sudo(8) is JAVA_UNTRUSTED. */
struct java_attach java_attach_start(pid_t pid, struct elf_file *libjvm, bool own_only,
				     uint64_t deadline_ns);
/* Waits for the answer until the deadline. */
enum java_answer java_attach_wait(struct java_attach *attach);
/* The reason why there is no list, to follow "process N ", such as "does not
 * answer". */
const char *java_answer_reason(enum java_answer answer);

#endif
