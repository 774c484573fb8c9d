/* A library that is loaded before libc. Its constructor calls functions of the guard before the guard's constructors. */
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((constructor)) static void begin(void)
{
	if (ftruncate(-1, 0) == 0 || fsync(-1) == 0 || write(-1, "", 1) == 1 || syscall(SYS_close, -1) == 0)
		_exit(1);
}
