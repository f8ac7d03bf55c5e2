/*
 * shell: words as they are written for a shell, so that they come back as they are.
 *
 * What is written is read alike by sh, bash, zsh and fish. A word with control bytes, or with bytes
 * that are not ASCII, needs escapes: $'...' for the shells of POSIX.1-2024, of bash and zsh; where
 * $SHELL is fish, as fish writes them. In a shell that knows neither, the word is wrong or an error,
 * but nothing of it is run.
 */
#ifndef CUTLINE_BASE_SHELL_H
#define CUTLINE_BASE_SHELL_H

#include <stddef.h>

#include "analysis/base/buf.h"

void shell_quote(struct buf *out, const char *word, size_t len);
/* The name of a file: one that begins with "-" is written so that no command takes it for an
 * option. */
void shell_quote_path(struct buf *out, const char *path);
/* Words with blanks between. */
void shell_words(struct buf *out, const char *const *words, size_t count);

#endif
