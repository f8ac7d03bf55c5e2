/*
 * file: a capture file, opened once for everything that a command reads of it.
 *
 * All stores of one file read by the same descriptor. A capture that is replaced under its name is
 * thus read to the end as it was. One that is written to in place cannot be: store_file_check tells,
 * and a command asks it after its last read and before it shows what it found. Reads are copies
 * (pread), never a map: a file that gets shorter is an error, not a signal.
 *
 *     store_file_open -> store_open_file (any number, any threads) -> store_file_check
 *     -> store_file_close
 */
#ifndef CUTLINE_STORE_FILE_H
#define CUTLINE_STORE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "analysis/base/err.h"

struct store_file;

/*
 * Fails with one clear line for: missing, empty, truncated, directory, no permission, a text file, a
 * git-LFS pointer, a .nsys-rep or .qdrep (says how to export), a writer that was killed half way.
 * NULL on failure.
 */
struct store_file *store_file_open(const char *path, struct err *err);
/* One owner more; each calls store_file_close. Returns file. */
struct store_file *store_file_share(struct store_file *file);
/* The last one closes. file may be NULL. */
void store_file_close(struct store_file *file);

const char *store_file_path(const struct store_file *file);
/* What the file was when it was opened. */
const struct stat *store_file_stat(const struct store_file *file);
/* Is there a write-ahead log with rows that the file itself has not? */
bool store_file_has_log(const struct store_file *file);
/* Reads len bytes at offset, as they are now. 0, or -1 where there are fewer. */
int store_file_read(const struct store_file *file, int64_t offset, void *out, size_t len);
/* Is the file what it was when it was opened? 0, or -1: it was written to. */
int store_file_check(const struct store_file *file, struct err *err);

#endif
