/* brief_name: see brief_name.h. */
#include "analysis/base/brief_name.h"

#include <stdbool.h>
#include <string.h>

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Steps over what is in brackets at text; returns the place behind it. "operator<" and the like are
 * no kernels' names. */
static const char *skip_brackets(const char *text)
{
    int depth = 0;
    do {
        depth += *text == '<' || *text == '(' || *text == '{' || *text == '[';
        depth -= *text == '>' || *text == ')' || *text == '}' || *text == ']';
        text++;
    } while (*text && depth > 0);
    return text;
}

/* Whether the brackets at text are the function's own parameters: what is behind them is not a name
 * within the function. */
static bool is_parameters(const char *text, const char *behind)
{
    return *text == '(' && !starts(text, "(anonymous namespace)") && !starts(behind, "::") &&
           !starts(behind, " const::");
}

void brief_name(const char *text, struct buf *brief)
{
    const char *begin = text;
    const char *end = NULL; /* where the arguments of the name begin */
    const char *at = text;
    while (*at) {
        if (*at == ' ' || (at[0] == ':' && at[1] == ':')) {
            at += *at == ' ' ? 1 : 2;
            begin = at;
            end = NULL;
            continue;
        }
        if (!strchr("<({[", *at)) {
            at++;
            continue;
        }
        const char *behind = skip_brackets(at);
        if (!end && *at != '{' && !starts(at, "(anonymous namespace)")) {
            end = at;
        }
        if (is_parameters(at, behind)) {
            break;
        }
        at = behind;
    }
    buf_reset(brief);
    buf_add(brief, begin, (size_t)((end ? end : at) - begin));
}
