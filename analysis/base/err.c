/* err: see err.h. */
#include "analysis/base/err.h"

#include <stdio.h>
#include <string.h>

/* The functions themselves (see the end of err.h). */
#undef err_set
#undef err_null
#undef err_prefix
#undef err_nomem

static void CUTLINE_PRINTF(2, 0) err_write(struct err *err, const char *fmt, va_list args)
{
    if (err == NULL) {
        return;
    }
    (void)vsnprintf(err->text, sizeof err->text, fmt, args);
}

int err_set(struct err *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    err_write(err, fmt, args);
    va_end(args);
    return -1;
}

void *err_null(struct err *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    err_write(err, fmt, args);
    va_end(args);
    return NULL;
}

int err_prefix(struct err *err, const char *fmt, ...)
{
    va_list args;
    if (err == NULL) {
        return -1;
    }
    struct err old = *err;
    va_start(args, fmt);
    err_write(err, fmt, args);
    va_end(args);
    size_t len = strlen(err->text);
    (void)snprintf(err->text + len, sizeof err->text - len, ": %s", old.text);
    return -1;
}

int err_nomem(struct err *err, const char *what)
{
    return err_set(err, "not enough memory for %s", what);
}
