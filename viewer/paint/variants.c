/* variants: see variants.h. The hash is FNV-1a with 64 bits (Fowler, Noll, Vo). */
#include "viewer/paint/variants.h"

#include <inttypes.h>

#include "viewer/paint/screen.h"

static uint64_t forms_add(uint64_t hash, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        hash = (hash ^ (value >> (8 * i) & 255U)) * UINT64_C(1099511628211);
    }
    return hash;
}

static uint64_t forms_hash(const struct canvas *canvas, const struct theme *theme)
{
    size_t count = (size_t)canvas->cols * (size_t)canvas->rows;
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < count; i++) {
        const struct cell *cell = &canvas->cells[i];
        struct theme_look look = theme_look(theme, cell);
        hash = forms_add(hash, cell->ch);
        hash = forms_add(hash, (uint32_t)look.fg);
        hash = forms_add(hash, (uint32_t)look.bg);
        hash = forms_add(hash, look.attrs);
    }
    return hash;
}

static int forms_texts(const struct session *session, struct canvas *canvas, struct buf *out,
                       struct err *err)
{
    static const struct {
        const char *name;
        struct frame_style style;
        enum canvas_dump how;
    } texts[] = {
        {"text", {.plain = true}, CANVAS_DUMP_TEXT},
        {"ascii", {.ascii = true, .plain = true}, CANVAS_DUMP_TEXT},
        {"colour", {0}, CANVAS_DUMP_TEXT},
        {"roles", {0}, CANVAS_DUMP_ROLES},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (screen_paint(session, &texts[i].style, canvas, err) != 0) {
            return -1;
        }
        buf_addf(out, "== %s\n", texts[i].name);
        canvas_dump(canvas, texts[i].how, out);
    }
    return 0;
}

int forms_make(const struct session *session, enum theme_kind kind, struct buf *out,
               struct err *err)
{
    static const struct {
        const char *name;
        enum theme_colors colors;
    } depths[] = {
        {"256", THEME_256},
        {"16", THEME_16},
        {"8", THEME_8},
        {"mono", THEME_MONO},
    };
    struct canvas canvas = {0};
    int rc = forms_texts(session, &canvas, out, err);
    buf_adds(out, "== looks\n");
    for (size_t i = 0; rc == 0 && i < 2 * sizeof depths / sizeof depths[0]; i++) {
        struct theme theme = {kind, depths[i / 2].colors};
        struct frame_style style = {.ascii = i % 2 != 0, .plain = theme.colors == THEME_MONO};
        rc = screen_paint(session, &style, &canvas, err);
        if (rc == 0) {
            buf_addf(out, "%s %s %016" PRIx64 "\n", depths[i / 2].name,
                     style.ascii ? "ascii" : "utf-8", forms_hash(&canvas, &theme));
        }
    }
    canvas_free(&canvas);
    return rc;
}
