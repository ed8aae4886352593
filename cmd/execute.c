#include "cmd/execute.h"

#include "base/error.h"
#include "cmd/ui/message.h"
#include "record/launch.h"

#include <errno.h>
#include <unistd.h>

int execute(char *const *command)
{
	int number;

	execvp(command[0], command);
	number = errno;
	return message_failure_as(error_errno(number, "%s", command[0]),
				  launch_refusal_status(number));
}
