/*
 * A control channel: other programs write words into it that steer a recording (control_words.h),
 * and read acknowledgements, as with perf record --control.
 *
 *	fifo:CTL[,ACK]  FIFOs that exist
 *	fd:N[,M]        descriptors that prof has inherited
 *	auto            FIFOs in a new directory of prof's, for the command that prof launches
 *
 * Each command is answered with "ack\n" and a NUL, the five bytes of perf, or with "nack REASON\n"
 * and a NUL. Where perf says nothing, to a word that it does not know, prof answers so, too. The
 * next command is taken after the answer to the one before.
 *
 * Nothing here waits: FIFOs are opened for reading and writing, so that the other end may come and
 * go; an answer that does not fit is dropped, with a message.
 *
 * A command can overwrite files. A FIFO must therefore be owned by a trusted user, lie where only
 * trusted users can create files (output/place.h), and not be writable by others.
 */
#ifndef PROF_CMD_CONTROL_H
#define PROF_CMD_CONTROL_H

#include "base/loop.h"
#include "cmd/control_words.h"

/* The environment variable that tells a command its control channel: "fifo:CTL,ACK". */
#define CONTROL_VARIABLE "PROF_CONTROL"

struct control;

/* Carries out a command that is not CONTROL_WRONG, and answers it. If it does not, no further
 * command is taken until control_go_on(). */
typedef void control_handler(void *user, const struct control_command *command);

/* `how` is one of the forms above. An error about its syntax has *is_usage set. */
MUST_CHECK struct error *control_open(const char *how, struct control **ret, bool *is_usage);
/* Removes the FIFOs that were made. The loop must not have been freed. NULL is allowed. */
void control_close(struct control *control);

/* How a command that prof launches reaches the channel: the value of CONTROL_VARIABLE; NULL: it
 * has to know by itself. */
const char *control_address(const struct control *control);

/* Begins to take commands. */
MUST_CHECK struct error *control_watch(struct control *control, struct loop *loop,
				       control_handler *handler, void *user);
/* Answers the last command: err NULL is an acknowledgement. Borrows err. May be called in a forked
 * child. */
void control_answer(struct control *control, const struct error *err);
/* After a command that took longer was answered. */
void control_go_on(struct control *control);
/* Takes the commands that have come, without the loop. False: there are none. */
bool control_take_rest(struct control *control);

#endif
