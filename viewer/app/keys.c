/* keys: see keys.h. */
#include "viewer/app/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/base/utf8.h"

struct keys_word {
    const char *word;
    uint32_t code;
};

/* The first word of a code is the one that is printed. */
static const struct keys_word KEYS_WORDS[] = {
    {"Enter", KEYS_ENTER},
    {"Return", KEYS_ENTER},
    {"CR", KEYS_ENTER},
    {"Tab", KEYS_TAB},
    {"Esc", KEYS_ESCAPE},
    {"Space", ' '},
    {"lt", '<'},
    {"Backspace", KEYS_BACKSPACE},
    {"BS", KEYS_BACKSPACE},
    {"Delete", KEYS_DELETE},
    {"Del", KEYS_DELETE},
    {"Up", KEYS_UP},
    {"Down", KEYS_DOWN},
    {"Left", KEYS_LEFT},
    {"Right", KEYS_RIGHT},
    {"Home", KEYS_HOME},
    {"End", KEYS_END},
    {"PageUp", KEYS_PAGE_UP},
    {"PageDown", KEYS_PAGE_DOWN},
    {"S-Tab", KEYS_BACK_TAB},
    {"S-Left", KEYS_SHIFT_LEFT},
    {"S-Right", KEYS_SHIFT_RIGHT},
    {"S-Up", KEYS_SHIFT_UP},
    {"S-Down", KEYS_SHIFT_DOWN},
    {"F1", KEYS_F1},
    {"F5", KEYS_F5},
    {"Click", KEYS_CLICK},
    {"DoubleClick", KEYS_DOUBLE_CLICK},
    {"Press", KEYS_PRESS},
    {"Drag", KEYS_DRAG},
    {"Release", KEYS_RELEASE},
    {"WheelUp", KEYS_WHEEL_UP},
    {"WheelDown", KEYS_WHEEL_DOWN},
    {"WheelLeft", KEYS_WHEEL_LEFT},
    {"WheelRight", KEYS_WHEEL_RIGHT},
    {"PasteBegin", KEYS_PASTE_BEGIN},
    {"PasteEnd", KEYS_PASTE_END},
    {"Resize", KEYS_RESIZE},
};

enum {
    KEYS_WORD_COUNT = sizeof KEYS_WORDS / sizeof KEYS_WORDS[0],
    KEYS_POSITION_MAX = 100000
};

/* "12,3" behind the colon of a mouse or resize word. */
static int keys_position(const char *text, struct key *key)
{
    char *end = NULL;
    long x = strtol(text, &end, 10);
    if (end == text || *end != ',' || x < 0 || x > KEYS_POSITION_MAX) {
        return -1;
    }
    text = end + 1;
    long y = strtol(text, &end, 10);
    if (end == text || *end != '\0' || y < 0 || y > KEYS_POSITION_MAX) {
        return -1;
    }
    key->x = (int)x;
    key->y = (int)y;
    return 0;
}

static int keys_word(char *word, struct key *key)
{
    char *colon = strchr(word, ':');
    if (colon != NULL) {
        *colon = '\0';
        if (keys_position(colon + 1, key) != 0) {
            return -1;
        }
    }
    if (word[0] != '\0' && word[1] == '-' && (word[0] == 'C' || word[0] == 'c') &&
        word[2] != '\0' && word[3] == '\0') {
        key->code = (uint32_t)word[2] & 0x1FU;
        return 0;
    }
    for (int i = 0; i < KEYS_WORD_COUNT; i++) {
        if (strcasecmp(word, KEYS_WORDS[i].word) == 0) {
            key->code = KEYS_WORDS[i].code;
            return 0;
        }
    }
    return -1;
}

int keys_parse(const char **at, const char *end, struct key *key, struct err *err)
{
    const char *close = NULL;
    char word[KEYS_NAME_BYTES];
    *key = (struct key){0};
    if (**at != '<') {
        *at += utf8_decode(*at, (size_t)(end - *at), &key->code);
        return 0;
    }
    close = memchr(*at, '>', (size_t)(end - *at));
    if (close == NULL) {
        return err_set(err, "key '<...' has no '>': write <lt> for the character '<'");
    }
    size_t len = (size_t)(close - *at - 1);
    if (len == 0 || len >= sizeof word) {
        return err_set(err, "key '<%.*s>' is not known: see the keys in cutline-view(1)",
                       (int)(len < 40 ? len : 40), *at + 1);
    }
    memcpy(word, *at + 1, len);
    word[len] = '\0';
    if (keys_word(word, key) != 0) {
        return err_set(err, "key '<%.*s>' is not known: see the keys in cutline-view(1)", (int)len,
                       *at + 1);
    }
    *at = close + 1;
    return 0;
}

char *keys_name(uint32_t code, char *out)
{
    for (int i = 0; i < KEYS_WORD_COUNT; i++) {
        if (KEYS_WORDS[i].code == code) {
            const char *word = code == '<' ? "<" : KEYS_WORDS[i].word;
            (void)snprintf(out, KEYS_NAME_BYTES, "%s", word);
            return out;
        }
    }
    if (code > 0 && code < 32) {
        (void)snprintf(out, KEYS_NAME_BYTES, "C-%c", (int)(code + 'a' - 1));
        return out;
    }
    size_t len = utf8_encode(code, out);
    out[len] = '\0';
    return out;
}

uint32_t keys_by_name(const char *name, size_t len)
{
    char word[KEYS_NAME_BYTES];
    struct key key = {0};
    if (len == 0 || len >= sizeof word) {
        return 0;
    }
    if (utf8_decode(name, len, &key.code) == len) {
        return key.code;
    }
    memcpy(word, name, len);
    word[len] = '\0';
    return keys_word(word, &key) == 0 ? key.code : 0;
}
