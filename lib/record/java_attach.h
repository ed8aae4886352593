/*
 * Asks a running Java virtual machine (HotSpot) to list the code that it has compiled, in
 * /tmp/perf-PID.map (proc/jit_map.h), as `jcmd PID Compiler.perfmap` does: JDK 17 and later can.
 *
 * The attach protocol: the file .attach_pidPID is made in /tmp of the machine's root, with the
 * machine's own pid in its name; SIGQUIT lets the machine look for it and open the socket
 * .java_pidPID beside it; the request and its answer go through that. Source:
 * attachListener_posix.cpp (attachListener_linux.cpp up to JDK 20) and VirtualMachineImpl.java of
 * OpenJDK.
 *
 * SIGQUIT ends a process that does not handle it, and lets a machine that may not be attached to,
 * or that finds no such file, print its threads. It is sent, through a pidfd, only when the file is
 * there, and to a process that maps HotSpot's libjvm.so, is not stopped, catches SIGQUIT and has
 * HotSpot's thread for it ("Signal Dispatcher"), and whose command line does not say
 * -XX:+DisableAttachMechanism. A machine that handles no signals (-Xrs) has its socket from the
 * start, and gets none. As after jcmd, a machine prints its threads if the option was set elsewhere
 * (JAVA_TOOL_OPTIONS), or if it takes the signal only after the deadline.
 *
 * All this happens in a child of prof with the effective user and group of the machine, without
 * capabilities and without prof's files. So root may ask the machines of all users: what a process
 * puts in the place of its socket or files leads to nothing that its user could not do, and what
 * does not answer keeps the child only, until the deadline. The child makes no file but
 * .attach_pidPID, and removes that.
 */
#ifndef PROF_RECORD_JAVA_ATTACH_H
#define PROF_RECORD_JAVA_ATTACH_H

#include <stdint.h>
#include <sys/types.h>

struct elf_file;

enum java_answer {
	JAVA_ANSWERED, /* the list was written, if the machine could create the file */
	JAVA_ENDED,
	JAVA_FOREIGN,	/* of another user, and prof is not root's */
	JAVA_NO_JVM,	/* it maps a file called libjvm.so, but is not HotSpot */
	JAVA_UNHANDLED, /* it does not handle SIGQUIT */
	JAVA_DISABLED,	/* by -XX:+DisableAttachMechanism */
	JAVA_STOPPED,	/* by a signal or a debugger */
	JAVA_SILENT,	/* no answer up to the deadline */
	JAVA_REFUSED,	/* it does not know the command, or could not run it */
	JAVA_FAILED,	/* system calls are missing, or its user cannot write to its /tmp */
};

/* One machine that is being asked. */
struct java_attach {
	pid_t pid;
	pid_t child; /* 0: none could be started */
	uint64_t deadline_ns;
};

/* libjvm: the file that pid maps. deadline_ns: clock_now_ns(). */
struct java_attach java_attach_start(pid_t pid, struct elf_file *libjvm, uint64_t deadline_ns);
/* Waits for the answer, not beyond the deadline. */
enum java_answer java_attach_wait(struct java_attach *attach);
/* Why there is no list, to follow "process N ": "does not answer". */
const char *java_answer_reason(enum java_answer answer);

#endif
