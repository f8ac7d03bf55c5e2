/*
 * output: where the text of a command goes: stdout, a file, or another command; and the one line of
 * an error on stderr.
 *
 *     output_open(&out, argument, &err) -> output_write | output_buf | output_printf ... ->
 *     output_close(&out, &err)
 *
 * "@" starts a command only where the person typed it: output_open takes an argument of the command
 * line as it is. A name that was made from something else, such as the name of a capture, goes to
 * output_open_file.
 *
 * Writing never fails in between: the first error is kept and comes out of output_close. A reader
 * that went away (EPIPE: `cutline stats ... | head -1`) is no error: the rest is dropped in
 * silence, and output_gone() lets a long job stop early. One output is open at a time: it owns
 * SIGPIPE.
 */
#ifndef CUTLINE_CLI_OUTPUT_H
#define CUTLINE_CLI_OUTPUT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analysis/base/buf.h"
#include "analysis/base/err.h"

enum output_kind {
    OUTPUT_STDOUT,
    OUTPUT_FILE,
    OUTPUT_COMMAND,
};

struct output {
    FILE *file;
    const char *name; /* for messages; the caller's */
    enum output_kind kind;
    int error; /* the first errno, 0 = none */
    struct sigaction old_sigpipe;
};

/* Which of the three an argument of the command line asks for: NULL or "-", "@COMMAND", a name. */
enum output_kind output_kind_of(const char *argument);
/*
 * argument: NULL or "-" = stdout; "@COMMAND" = the standard input of a shell command; else a file,
 * made or emptied. argument must outlive the output. 0, or -1 with err set.
 */
int output_open(struct output *out, const char *argument, struct err *err);
/* A file and nothing else, whatever its name is. Without replace what is there already, a link
 * too, is an error. path must outlive the output. 0, or -1 with err set. */
int output_open_file(struct output *out, const char *path, bool replace, struct err *err);
/* Returns 0 always, or 1 once nothing more can be written: fits struct table_sink. */
int output_write(void *output, const char *data, size_t len);
int output_text(struct output *out, const char *text);
int output_buf(struct output *out, const struct buf *buf);
int output_printf(struct output *out, const char *fmt, ...) CUTLINE_PRINTF(2, 3);
/* Nobody reads any more, or an error came: the rest may be left out. */
bool output_gone(const struct output *out);
/* Flushes and closes. -1: it could not all be written, or the command failed (err says). */
int output_close(struct output *out, struct err *err);

/* Whole text to stdout at once. 0, or -1 with err set. */
int output_all(const struct buf *buf, struct err *err);

/* "cutline: TEXT" or "cutline COMMAND: TEXT" on stderr: one line, made safe for a terminal. */
void output_error(const char *command, const struct err *err);
/* Can this terminal not show UTF-8 (by the locale)? main() has called setlocale. */
bool output_ascii(void);

#endif
