/*
 * A control channel. Other programs write commands to it that control a
 * recording (control_words.h), and read acknowledgements, as with perf record
 * --control.
 *
 *	fifo:CTL[,ACK]  FIFOs that exist
 *	fd:N[,M]        descriptors that prof has inherited
 *	auto            FIFOs that prof creates in a new directory, for the command that it launches
 *
 * Each command is answered with "ack\n" and a NUL, the five bytes of perf, or
 * with "nack REASON\n" and a NUL. An unknown word, which perf does not answer,
 * is answered with a nack. The next command is taken after the previous one was
 * answered.
 *
 * Nothing here blocks. FIFOs are opened for reading and writing, so the other
 * end may come and go. An answer that does not fit is dropped, with a message.
 *
 * A command can overwrite files. A FIFO must therefore be owned by a trusted
 * user, be in a directory where only trusted users can create files
 * (output/place.h), and not be writable by others.
 */
#ifndef PROF_CMD_RECORD_CONTROL_H
#define PROF_CMD_RECORD_CONTROL_H

#include "base/loop.h"
#include "cmd/record/control_words.h"

/* The environment variable with the control channel of a command:
 * "fifo:CTL,ACK". */
#define CONTROL_VARIABLE "PROF_CONTROL"

struct control;

/* Carries out a command that is not CONTROL_WRONG, and answers it. If it does
 * not answer, no further command is taken until control_go_on(). */
typedef void control_handler(void *user, const struct control_command *command);

/* `how` is one of the forms above. */
MUST_CHECK struct error *control_open(const char *how, struct control **ret);
/* Removes the FIFOs that were created. The loop must still exist. NULL is
 * allowed. */
void control_close(struct control *control);

/* Returns the value of CONTROL_VARIABLE for a command that prof launches, or
 * NULL if the command must know the channel by other means. */
const char *control_address(const struct control *control);

/* Starts to take commands. */
MUST_CHECK struct error *control_watch(struct control *control, struct loop *loop,
				       control_handler *handler, void *user);
/* Answers the last command. A NULL err is an acknowledgement. Borrows err. May
 * be called in a forked child. */
void control_answer(struct control *control, const struct error *err);
/* Takes commands again. Call it when a command that took longer was answered. */
void control_go_on(struct control *control);
/* Takes the commands that have arrived, without the loop. Returns false if
 * there are none. */
bool control_take_rest(struct control *control);

#endif
