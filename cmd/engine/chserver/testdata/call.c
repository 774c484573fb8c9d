/*
 * call calls the function that its first argument names, with standard input as the file. It prints the result, the
 * errno, and whether the function belongs to the write guard. The second argument is the number for syscall.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	long (*call)(long, ...) = (long (*)(long, ...))dlsym(RTLD_DEFAULT, argv[1]);
	int (*guards)(const void *) = (int (*)(const void *))dlsym(RTLD_DEFAULT, "octavo_guards");
	errno = 0;
	int result = (int)call(argc > 2 ? atol(argv[2]) : 0, 0, 0, 0, 0, 0), error = errno;
	printf("%d %d %d\n", result, error, guards != NULL && guards((const void *)call));
	return 0;
}
