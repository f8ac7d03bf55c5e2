/* check: cmocka with the headers that it wants before it. Every unit test includes this one. */
#ifndef CUTLINE_TESTS_CHECK_H
#define CUTLINE_TESTS_CHECK_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
/* clang-format on */

#endif
