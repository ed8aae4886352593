#include "cmd/record/record_control.h"

#include "base/alloc.h"
#include "cmd/ui/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of reads and snapshots after the end. A FIFO holds fewer valid
 * commands. */
enum { REST_MAX = 1000 };

static void record_control_answer(struct record_control *control, struct error *err)
{
	control_answer(control->control, err);
	if (err)
		message_error(error_wrap(err, "--control"));
}

/* ---- Snapshots ---- */

static bool is_null_device(const char *path)
{
	return !strcmp(path, "/dev/null");
}

/* Anything but a regular file could block. */
static struct error *check_place(const char *template)
{
	CLEANUP(output_place_deinit) struct output_place place = OUTPUT_PLACE_INIT;
	CLEANUP(free_ptr) char *path = output_path(template);
	struct error *err = output_place_find(path, &place);

	if (!err && (place.special >= 0 || place.descriptor >= 0))
		err = error_new("%s is not a regular file, which a snapshot needs", path);
	return err;
}

static struct error *open_output(const char *template, struct output *ret)
{
	struct error *err = check_place(template);

	if (!err)
		err = output_open(NULL, template, NULL, message_error, ret);
	if (err || ret->format->write)
		return err;
	err = error_new("%s: only -o writes %s", ret->path, ret->format->name);
	output_discard(ret);
	return err;
}

/* Called in the child. */
static int record_control_write_snapshot(void *user)
{
	struct record_control *control = user;
	struct error *err = recording_fork(control->recording);

	if (!err)
		err = control->write(control->user, &control->output);
	record_control_answer(control, err);
	return EXIT_SUCCESS;
}

static void record_control_on_written(void *user, const struct forked_child_end *end)
{
	struct record_control *control = user;
	CLEANUP(error_cleanup) struct error *err = NULL;

	output_discard(&control->output);
	if (end->status != 0) {
		err = error_new("the process that writes a snapshot was killed");
		control_answer(control->control, err);
		message("--control: %s", error_text(err));
	}
	control_go_on(control->control);
}

static void record_control_snapshot(struct record_control *control, const char *template)
{
	struct error *err;

	recorder_drain_up_to_now(control->recording->recorder);
	if (is_null_device(template)) {
		rotation_forget(control->rotation);
		record_control_answer(control, NULL);
		return;
	}
	err = open_output(template, &control->output);
	if (err) {
		record_control_answer(control, err);
		return;
	}
	err = rotation_fork(control->rotation, &control->writer, record_control_write_snapshot,
			    record_control_on_written, control);
	if (err) {
		output_discard(&control->output);
		record_control_answer(control, error_wrap(err, "write a snapshot"));
	} else {
		control->snapshots++;
	}
}

/* ---- Commands ---- */

static void record_control_carry_out(void *user, const struct control_command *command)
{
	struct record_control *control = user;
	struct recording *recording = control->recording;

	switch (command->word) {
	case CONTROL_ENABLE:
		record_control_answer(control, recorder_resume(recording->recorder));
		break;
	case CONTROL_DISABLE:
		recorder_pause(recording->recorder);
		record_control_answer(control, NULL);
		break;
	case CONTROL_STOP:
		recording_end(recording);
		record_control_answer(control, NULL);
		break;
	case CONTROL_SNAPSHOT:
		record_control_snapshot(control, command->argument);
		break;
	case CONTROL_PING:
	case CONTROL_WRONG: /* never passed to this function */
		record_control_answer(control, NULL);
		break;
	}
}

struct error *record_control_open(struct record_control *control, const char *how)
{
	struct error *err = control_open(how, &control->control);

	if (!err && control_address(control->control) &&
	    setenv(CONTROL_VARIABLE, control_address(control->control), true) < 0)
		return error_errno(errno, "set %s", CONTROL_VARIABLE);
	return err;
}

struct error *record_control_begin(struct record_control *control)
{
	if (!control->control)
		return NULL;
	return control_watch(control->control, control->recording->loop, record_control_carry_out,
			     control);
}

/* A program may request a snapshot and exit. */
static void record_control_take_rest(struct record_control *control)
{
	for (unsigned i = 0; i < REST_MAX; i++) {
		if (control->writer.pid)
			forked_writer_wait(&control->writer);
		else if (!control_take_rest(control->control))
			return;
	}
}

void record_control_end(struct record_control *control)
{
	if (!control->control)
		return;
	record_control_take_rest(control);
	forked_writer_wait(&control->writer);
	control_close(STEAL(control->control));
}
