/* names: texts for the names of all pieces, each distinct (kind, texts, domain) once. Numbers are
 * given in order of first sight: table by table, row by row. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/buf.h"
#include "analysis/trace/trace_internal.h"

/* A name by the numbers of its texts in trace_own.texts. No padding. */
struct name_texts {
    uint32_t full;
    uint32_t brief;
    uint32_t mangled;
    uint32_t domain; /* INTERN_NONE: not NVTX */
    uint32_t kind;
    uint32_t copy_kind;
};

struct name_domain {
    int64_t process;
    int64_t domain;
};

/* While the names are built. */
struct naming {
    struct load *load;
    struct intern *texts;
    struct intern distinct; /* struct name_texts */
    struct intern domains; /* struct name_domain */
    uint32_t *domain_texts; /* of each domain */
    int64_t *domain_starts;
    uint32_t *colors; /* of each distinct name */
    size_t colors_cap;
    struct buf scratch;
    bool failed; /* memory ran out */
};

static const struct raw_name *raw_name_at(const struct piece *piece, uint32_t index)
{
    return (const void *)intern_text(&piece->names, index);
}

int names_need(struct load *load, struct err *err)
{
    int failed = 0;
    for (uint32_t p = 0; p < load->piece_count; p++) {
        const struct piece *piece = &load->pieces[p];
        for (uint32_t i = 0; i < piece->names.count; i++) {
            const struct raw_name *raw = raw_name_at(piece, i);
            if (raw->kind == TRACE_KERNEL) {
                failed |= strings_need(load->strings, raw->id[1]);
                failed |= strings_need(load->strings, raw->id[2]);
            }
            if (raw->kind >= TRACE_API_CALL || raw->kind == TRACE_KERNEL) {
                failed |= raw->sub == 0 ? strings_need(load->strings, raw->id[0]) : 0;
            }
        }
        for (uint32_t i = 0; i < piece->domain_count; i++) {
            failed |= strings_need(load->strings, piece->domains[i].name.id);
        }
        for (uint32_t i = 0; i < piece->thread_name_count; i++) {
            failed |= strings_need(load->strings, piece->thread_names[i].name.id);
        }
    }
    return failed == 0 ? 0 : err_nomem(err, "names");
}

static uint32_t text_add(struct naming *naming, const char *text, size_t len)
{
    uint32_t index = intern_add(naming->texts, text, len);
    naming->failed = naming->failed || index == INTERN_NONE;
    return index == INTERN_NONE ? 0 : index;
}

static uint32_t text_of_scratch(struct naming *naming)
{
    naming->failed = naming->failed || buf_failed(&naming->scratch);
    return text_add(naming, buf_text(&naming->scratch), naming->scratch.len);
}

/* The text of a StringIds id; of a row that is missing "WHAT:ID". */
static uint32_t text_of_id(struct naming *naming, int64_t id, const char *what)
{
    uint32_t text = strings_text(naming->load->strings, id);
    if (text != INTERN_NONE) {
        return text;
    }
    buf_reset(&naming->scratch);
    if (id == RAW_NO_ID) {
        buf_addf(&naming->scratch, "[no %s]", what);
    } else {
        buf_addf(&naming->scratch, "%s:%lld", what, (long long)id);
    }
    return text_of_scratch(naming);
}

static uint32_t text_first(const struct strings *strings, const struct raw_name *raw, int a, int b)
{
    uint32_t text = strings_text(strings, raw->id[a]);
    return text != INTERN_NONE ? text : strings_text(strings, raw->id[b]);
}

static void name_kernel(struct naming *naming, const struct raw_name *raw, struct name_texts *out)
{
    const struct strings *strings = naming->load->strings;
    out->full = text_first(strings, raw, 0, 1);
    if (out->full == INTERN_NONE) {
        out->full = strings_text(strings, raw->id[2]);
    }
    if (out->full == INTERN_NONE) {
        out->full = text_of_id(naming, raw->id[0], "kernel name");
    }
    out->brief = strings_text(strings, raw->id[1]);
    out->brief = out->brief == INTERN_NONE ? out->full : out->brief;
    out->mangled = strings_text(strings, raw->id[2]);
    out->mangled = out->mangled == INTERN_NONE ? out->full : out->mangled;
}

static const char *const COPY_BRIEF[] = {
    "copy", "HtoD", "DtoH", "HtoA", "AtoH",    "AtoA",    "AtoD",
    "DtoA", "DtoD", "HtoH", "PtoP", "UM HtoD", "UM DtoH", "UM DtoD",
};

static void name_copy(struct naming *naming, const struct raw_name *raw, struct name_texts *out)
{
    const char *label = store_enum_label(naming->load->store, STORE_ENUM_MEMCPY_OPER, raw->sub);
    const char *brief =
        raw->sub < sizeof COPY_BRIEF / sizeof COPY_BRIEF[0] ? COPY_BRIEF[raw->sub] : COPY_BRIEF[0];
    out->copy_kind = raw->sub;
    buf_reset(&naming->scratch);
    buf_addf(&naming->scratch, "[CUDA memcpy %s]", label == NULL ? "Unknown" : label);
    out->full = text_of_scratch(naming);
    out->brief = text_add(naming, brief, strlen(brief));
    out->mangled = out->full;
}

static void name_plain(struct naming *naming, const char *full, const char *brief,
                       struct name_texts *out)
{
    out->full = text_add(naming, full, strlen(full));
    out->brief = text_add(naming, brief, strlen(brief));
    out->mangled = out->full;
}

static void name_graph(struct naming *naming, const struct raw_name *raw, struct name_texts *out)
{
    char full[64];
    char brief[64];
    (void)snprintf(full, sizeof full, "[CUDA graph %lld]", (long long)raw->id[0]);
    (void)snprintf(brief, sizeof brief, "graph %lld", (long long)raw->id[0]);
    name_plain(naming, full, brief, out);
}

static void name_call(struct naming *naming, const struct raw_name *raw, struct name_texts *out)
{
    out->full = text_of_id(naming, raw->id[0], "nameId");
    out->brief = out->full;
    out->mangled = out->full;
    if (raw->kind == TRACE_API_CALL) {
        const char *text = intern_text(naming->texts, out->full);
        size_t len = intern_len(naming->texts, out->full);
        size_t brief_len = api_brief_len(text, len);
        out->brief = brief_len == len ? out->full : text_add(naming, text, brief_len);
    }
}

static uint32_t domain_text(struct naming *naming, const struct raw_name *raw)
{
    struct name_domain key = {raw->process, raw->domain};
    uint32_t index = intern_find(&naming->domains, (const char *)&key, sizeof key);
    return index == INTERN_NONE ? text_add(naming, "", 0) : naming->domain_texts[index];
}

static void name_nvtx(struct naming *naming, const struct piece *piece, const struct raw_name *raw,
                      struct name_texts *out)
{
    if (raw->sub == 1) {
        uint32_t text = (uint32_t)raw->id[0];
        out->full =
            text_add(naming, intern_text(&piece->texts, text), intern_len(&piece->texts, text));
    } else {
        out->full = text_of_id(naming, raw->id[0], "textId");
    }
    out->brief = out->full;
    out->mangled = out->full;
    out->domain = domain_text(naming, raw);
}

static void name_texts(struct naming *naming, const struct piece *piece, const struct raw_name *raw,
                       struct name_texts *out)
{
    *out = (struct name_texts){.kind = raw->kind, .domain = INTERN_NONE};
    switch ((enum trace_kind)raw->kind) {
    case TRACE_KERNEL:
        name_kernel(naming, raw, out);
        break;
    case TRACE_MEMCPY:
    case TRACE_MIGRATION:
        name_copy(naming, raw, out);
        break;
    case TRACE_MEMSET:
        name_plain(naming, "[CUDA memset]", "memset", out);
        break;
    case TRACE_GRAPH:
        name_graph(naming, raw, out);
        break;
    case TRACE_NVTX_PUSHPOP:
    case TRACE_NVTX_STARTEND:
    case TRACE_NVTX_MARK:
        name_nvtx(naming, piece, raw, out);
        break;
    default:
        name_call(naming, raw, out);
        break;
    }
}

/* Domain names: of several create rows the earliest counts, of equals the first. */
static int name_domain_add(struct naming *naming, const struct piece *piece,
                           const struct raw_domain *raw)
{
    struct name_domain key = {raw->process, raw->domain};
    uint32_t before = naming->domains.count;
    uint32_t index = intern_add(&naming->domains, (const char *)&key, sizeof key);
    uint32_t text = strings_text(naming->load->strings, raw->name.id);
    if (index == INTERN_NONE) {
        return -1;
    }
    if (raw->name.text != INTERN_NONE) {
        text = text_add(naming, intern_text(&piece->texts, raw->name.text),
                        intern_len(&piece->texts, raw->name.text));
    }
    text = text == INTERN_NONE ? text_add(naming, "", 0) : text;
    if (index < before && naming->domain_starts[index] <= raw->start_ns) {
        return 0;
    }
    naming->domain_texts[index] = text;
    naming->domain_starts[index] = raw->start_ns;
    return naming->failed ? -1 : 0;
}

static int name_domains(struct naming *naming)
{
    const struct load *load = naming->load;
    size_t count = 1;
    for (uint32_t p = 0; p < load->piece_count; p++) {
        count += load->pieces[p].domain_count;
    }
    naming->domain_texts = calloc(count, sizeof *naming->domain_texts);
    naming->domain_starts = calloc(count, sizeof *naming->domain_starts);
    if (naming->domain_texts == NULL || naming->domain_starts == NULL) {
        return -1;
    }
    for (uint32_t p = 0; p < load->piece_count; p++) {
        for (uint32_t i = 0; i < load->pieces[p].domain_count; i++) {
            if (name_domain_add(naming, &load->pieces[p], &load->pieces[p].domains[i]) != 0) {
                return -1;
            }
        }
    }
    return 0;
}

static int name_color(struct naming *naming, uint32_t name, uint32_t color)
{
    uint32_t *grown =
        array_grow_zeroed(naming->colors, &naming->colors_cap, (size_t)name + 1, sizeof *grown);
    if (grown == NULL) {
        return -1;
    }
    naming->colors = grown;
    if (naming->colors[name] == 0) {
        naming->colors[name] = color;
    }
    return 0;
}

/* Numbers the names of one piece. */
static int name_piece(struct naming *naming, struct piece *piece)
{
    piece->name_map = malloc(((size_t)piece->names.count + 1) * sizeof *piece->name_map);
    if (piece->name_map == NULL) {
        return -1;
    }
    for (uint32_t i = 0; i < piece->names.count && !naming->failed; i++) {
        struct name_texts texts;
        name_texts(naming, piece, raw_name_at(piece, i), &texts);
        uint32_t index = intern_add(&naming->distinct, (const char *)&texts, sizeof texts);
        if (index == INTERN_NONE) {
            return -1;
        }
        piece->name_map[i] = index;
        if (i < piece->colors_cap && piece->colors[i] != 0 &&
            name_color(naming, index, piece->colors[i]) != 0) {
            return -1;
        }
    }
    return naming->failed ? -1 : 0;
}

static void name_fill(struct naming *naming, uint32_t index, struct trace_name *name)
{
    const struct intern *texts = naming->texts;
    const struct name_texts *from = (const void *)intern_text(&naming->distinct, index);
    name->full = intern_text(texts, from->full);
    name->full_len = (uint32_t)intern_len(texts, from->full);
    name->brief = intern_text(texts, from->brief);
    name->brief_len = (uint32_t)intern_len(texts, from->brief);
    name->mangled = intern_text(texts, from->mangled);
    name->mangled_len = (uint32_t)intern_len(texts, from->mangled);
    if (from->domain != INTERN_NONE) {
        name->domain = intern_text(texts, from->domain);
        name->domain_len = (uint32_t)intern_len(texts, from->domain);
    }
    name->color_argb = index < naming->colors_cap ? naming->colors[index] : 0;
    name->kind = (uint8_t)from->kind;
    name->copy_kind = (uint8_t)from->copy_kind;
    if (from->kind == TRACE_API_CALL) {
        name->api = api_flags(name->brief, name->brief_len);
    }
}

static int names_finish(struct naming *naming)
{
    struct trace *trace = naming->load->trace;
    uint32_t count = naming->distinct.count;
    trace->names = calloc((size_t)count + 1, sizeof *trace->names);
    if (trace->names == NULL) {
        return -1;
    }
    trace->name_count = count;
    for (uint32_t i = 0; i < count; i++) {
        name_fill(naming, i, &trace->names[i]);
    }
    return 0;
}

int names_build(struct load *load, struct err *err)
{
    struct naming naming = {.load = load, .texts = &load->own->texts};
    int status = name_domains(&naming);
    for (uint32_t p = 0; p < load->piece_count && status == 0; p++) {
        status = name_piece(&naming, &load->pieces[p]);
        intern_free(&load->pieces[p].names);
        intern_free(&load->pieces[p].texts);
    }
    if (status == 0) {
        status = names_finish(&naming);
    }
    intern_free(&naming.distinct);
    intern_free(&naming.domains);
    free(naming.domain_texts);
    free(naming.domain_starts);
    free(naming.colors);
    buf_free(&naming.scratch);
    return status == 0 ? 0 : err_nomem(err, "names");
}
