/*
 * recipe: command lines to take away: the `ncu` call that profiles one kernel instance. Every word
 * is quoted for a shell (analysis/base/shell.h), so that a name cannot run anything when pasted.
 */
#ifndef CUTLINE_EXPORT_RECIPE_H
#define CUTLINE_EXPORT_RECIPE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/arena.h"
#include "analysis/base/buf.h"
#include "analysis/base/err.h"
#include "analysis/trace/trace.h"

/* The command that was recorded: the launched one, of all processes that it started. */
struct recipe_command {
    const char **words; /* owned; the texts are in the arena */
    size_t count; /* 0 where the file does not say */
    struct arena arena;
};
/* Reads the capture again. 0 or -1. */
int recipe_command_load(const struct trace *trace, struct recipe_command *out, struct err *err);
void recipe_command_free(struct recipe_command *command);

/*
 * The place of a kernel among the kernels of its process with the same short name, in the order of
 * their launches (from 0), as `ncu --launch-skip` counts. *of (may be NULL) = how many there are.
 */
uint32_t recipe_ordinal(const struct trace *trace, uint32_t gpu, uint32_t *of);
/*
 * Adds "ncu --kernel-name regex:^NAME$ --launch-skip N --launch-count 1 COMMAND..." for a kernel
 * (GPU index). command NULL or empty: the word COMMAND stands for it. 0; -1 where the op is
 * no kernel (err says).
 */
int recipe_ncu(const struct trace *trace, uint32_t gpu, const struct recipe_command *command,
               struct buf *out, struct err *err);

#endif
