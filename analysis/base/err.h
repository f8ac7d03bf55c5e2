/*
 * err: one error message, passed down as the last parameter of every function that can fail.
 *
 * A message is one line for a person: what failed, where, what to do. It is cut, never overflowed.
 * No memory is owned: a struct err lives on the caller's stack. NULL is allowed everywhere and
 * means that nobody wants the text.
 */
#ifndef CUTLINE_BASE_ERR_H
#define CUTLINE_BASE_ERR_H

#include <stdarg.h>

enum {
    ERR_TEXT_BYTES = 1024
};

struct err {
    char text[ERR_TEXT_BYTES]; /* one line, NUL-terminated, "" = no error */
};

#if defined(__GNUC__)
#define CUTLINE_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define CUTLINE_MUST_USE __attribute__((warn_unused_result))
#else
#define CUTLINE_PRINTF(fmt, first)
#define CUTLINE_MUST_USE
#endif

/* Replaces the text. Returns -1 always, so that `return err_set(err, ...)` reads well. */
int err_set(struct err *err, const char *fmt, ...) CUTLINE_PRINTF(2, 3);

/* The same for functions that return a pointer: returns NULL. */
void *err_null(struct err *err, const char *fmt, ...) CUTLINE_PRINTF(2, 3);

/* Puts "prefix: " before the text that is there. Returns -1. */
int err_prefix(struct err *err, const char *fmt, ...) CUTLINE_PRINTF(2, 3);

/* "not enough memory for WHAT". Returns -1. */
int err_nomem(struct err *err, const char *what);

/* The static analyser sees one file at a time: it is told what these return. */
#ifdef __clang_analyzer__
#define err_set(...) ((void)err_set(__VA_ARGS__), -1)
#define err_null(...) ((void)err_null(__VA_ARGS__), (void *)0)
#define err_prefix(...) ((void)err_prefix(__VA_ARGS__), -1)
#define err_nomem(...) ((void)err_nomem(__VA_ARGS__), -1)
#endif

#endif
