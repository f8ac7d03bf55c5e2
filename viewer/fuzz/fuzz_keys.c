/*
 * fuzz_keys: whatever is pressed, in whatever state and at whatever size, a frame can be drawn.
 *
 *     byte 0: bit 0 ASCII, bit 1 no colour, bit 2 two captures
 *     then keys: 00 to 7f the character or control, 80 to 9f a key with a name, a0 to bf the mouse at
 *     the next two bytes, c0 to df another size in the next two bytes, e0 to ff the code point of the
 *     next two bytes
 */
#include "viewer/fuzz/view.h"

enum {
    KEYS_AT_MOST = 64
};

/* The capture, loaded once. */
static const struct trace *sample(void)
{
    static struct trace *trace;
    if (trace == NULL) {
        struct memory_db *db = view_case("all-tables");
        memory_db_use(db);
        trace = view_load(db);
        FUZZ_HOLDS(trace != NULL);
    }
    return trace;
}

/* One key from the input; returns the bytes taken. */
static size_t read_key(const uint8_t *data, size_t size, struct key *key)
{
    uint8_t byte = data[0];
    uint8_t x = size > 1 ? data[1] : 0;
    uint8_t y = size > 2 ? data[2] : 0;
    *key = (struct key){.code = byte};
    if (byte < 0x80) {
        return 1;
    }
    if (byte < 0xa0) {
        key->code = KEYS_SPECIAL + 1 + byte % (KEYS_F5 - KEYS_SPECIAL);
        return 1;
    }
    if (byte < 0xc0) {
        *key = (struct key){KEYS_CLICK + byte % (KEYS_RESIZE - KEYS_CLICK), x, y};
    } else if (byte < 0xe0) {
        *key = (struct key){KEYS_RESIZE, 1 + x % 160, 1 + y % 50};
    } else {
        key->code = (uint32_t)x << 8 | y;
    }
    return size < 3 ? size : 3;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct key usual = {KEYS_RESIZE, 80, 24};
    struct view_session view;
    if (size == 0) {
        return 0;
    }
    const struct frame_style style = {.ascii = (data[0] & 1U) != 0, .plain = (data[0] & 2U) != 0};
    if (!view_open(&view, sample(), (data[0] & 4U) != 0)) {
        return 0;
    }
    session_key(&view.session, &usual);
    view_paint(&view, &style);
    size_t at = 1;
    for (int i = 0; i < KEYS_AT_MOST && at < size; i++) {
        struct key key;
        at += read_key(data + at, size - at, &key);
        session_key(&view.session, &key);
        view_paint(&view, &style);
    }
    view_close(&view);
    return 0;
}
