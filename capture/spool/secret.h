/*
 * Hides what looks like a secret in the words of a command line, before they are kept anywhere.
 *
 * A value is hidden by the name that it is given under (--api-key=V, --token V, PASSWORD=V,
 * "Authorization: V", also within the text of a script or a URL's query), by its own form (the
 * prefixes of well-known services' keys, JSON web tokens), and as the password of a URL. A guess:
 * what has neither a telling name nor a telling form is kept.
 */
#ifndef CUTLINE_CAPTURE_SECRET_H
#define CUTLINE_CAPTURE_SECRET_H

#include <stddef.h>

#define SECRET_HIDDEN "***"

/* Copies WORDS (BYTES of them, each word ended by a zero byte, the last one perhaps not) to OUT, SIZE
 * bytes, with secrets replaced by SECRET_HIDDEN; their number stays. Cuts what does not fit. Returns
 * the bytes written. Allocates nothing: it runs in other people's programs. */
size_t secret_hide(char *out, size_t size, const char *words, size_t bytes);

#endif
