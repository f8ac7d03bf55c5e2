/* config: see config.h. */
#include "viewer/app/config.h"

#include <stdio.h>
#include <string.h>

#include "viewer/app/keydoc.h"
#include "viewer/app/keys.h"

enum config_type {
    CONFIG_TEXT,
    CONFIG_BOOL,
    CONFIG_NUMBER
};

struct config_setting {
    const char *name;
    enum config_type type;
    size_t at; /* offsetof in struct config */
    const char *initial;
    const char *choices; /* "dark light safe"; NULL: yes no, or a number */
    const char *help;
};

static const struct config_setting CONFIG_SETTINGS[] = {
    {"theme", CONFIG_TEXT, offsetof(struct config, theme), "auto", "auto dark light safe",
     "colours for a dark or light background, or told apart with any colour vision; auto asks the "
     "terminal"},
    {"color", CONFIG_TEXT, offsetof(struct config, color), "auto", "auto never 8 16 256 truecolor",
     "colours at most"},
    {"ascii", CONFIG_BOOL, offsetof(struct config, ascii), "no", NULL,
     "draw with ASCII characters only"},
    {"mouse", CONFIG_BOOL, offsetof(struct config, mouse), "yes", NULL,
     "click, drag and wheel; no leaves the mouse to the terminal"},
    {"hide", CONFIG_BOOL, offsetof(struct config, hide), "no", NULL,
     "hide what the filter leaves out instead of dimming it"},
    {"cache-mib", CONFIG_NUMBER, offsetof(struct config, cache_mib), "4096", NULL,
     "MiB for captures that are kept ready in the cache folder; 0 keeps none"},
    {"cache-events", CONFIG_NUMBER, offsetof(struct config, cache_events), "1000000", NULL,
     "captures of so many events or more are kept ready"},
};

enum {
    CONFIG_SETTING_COUNT = sizeof CONFIG_SETTINGS / sizeof CONFIG_SETTINGS[0],
    CONFIG_VALUE_BYTES = 16,
    CONFIG_DIGITS = 9
};

/* A piece of a line. */
struct config_word {
    const char *text;
    size_t len;
};

static bool config_is(const struct config_word *word, const char *text)
{
    return word->len == strlen(text) && memcmp(word->text, text, word->len) == 0;
}

static bool config_among(const struct config_word *word, const char *choices)
{
    while (*choices != '\0') {
        size_t len = strcspn(choices, " ");
        if (len == word->len && memcmp(choices, word->text, len) == 0) {
            return true;
        }
        choices += len + (choices[len] == ' ' ? 1 : 0);
    }
    return false;
}

static int config_number(const struct config_setting *setting, const struct config_word *value,
                         uint32_t *out, struct err *err)
{
    uint32_t number = 0;
    for (size_t i = 0; i < value->len && value->len <= CONFIG_DIGITS; i++) {
        if (value->text[i] < '0' || value->text[i] > '9') {
            return err_set(err, "%s is a number", setting->name);
        }
        number = number * 10 + (uint32_t)(value->text[i] - '0');
    }
    if (value->len == 0 || value->len > CONFIG_DIGITS) {
        return err_set(err, "%s is a number", setting->name);
    }
    *out = number;
    return 0;
}

static int config_set(struct config *config, const struct config_setting *setting,
                      const struct config_word *value, struct err *err)
{
    const char *choices = setting->choices != NULL ? setting->choices : "yes no";
    char *at = (char *)config + setting->at;
    if (setting->type == CONFIG_NUMBER) {
        return config_number(setting, value, (uint32_t *)(void *)at, err);
    }
    if (!config_among(value, choices) || value->len >= CONFIG_VALUE_BYTES) {
        return err_set(err, "%s is one of: %s", setting->name, choices);
    }
    if (setting->type == CONFIG_BOOL) {
        *(bool *)at = config_is(value, "yes");
    } else {
        memcpy(at, value->text, value->len);
        at[value->len] = '\0';
    }
    return 0;
}

void config_init(struct config *config)
{
    *config = (struct config){0};
    keymap_defaults(&config->keymap);
    for (int i = 0; i < CONFIG_SETTING_COUNT; i++) {
        struct config_word value = {CONFIG_SETTINGS[i].initial, strlen(CONFIG_SETTINGS[i].initial)};
        (void)config_set(config, &CONFIG_SETTINGS[i], &value, NULL);
    }
}

/* Takes a key from every other action of the same context. */
static void config_free_key(struct keymap *map, enum action_context context, uint32_t key)
{
    for (int i = 0; i < ACTION_COUNT; i++) {
        for (int n = 0; n < ACTION_KEYS_MAX; n++) {
            if (ACTION_TABLE[i].context == context && map->keys[i][n] == key) {
                map->keys[i][n] = 0;
            }
        }
    }
}

static int config_keys(struct config *config, const struct config_word *action,
                       const struct config_word *value, struct err *err)
{
    enum action_id id = action_by_name(action->text, action->len);
    size_t at = 0;
    int n = 0;
    if (id == ACTION_COUNT) {
        return err_set(err, "no action '%.*s'; cutline view --keys lists them",
                       (int)(action->len < 60 ? action->len : 60), action->text);
    }
    memset(config->keymap.keys[id], 0, sizeof config->keymap.keys[id]);
    while (at < value->len) {
        size_t begin = at;
        while (at < value->len && value->text[at] != ' ' && value->text[at] != '\t') {
            at++;
        }
        uint32_t key = keys_by_name(value->text + begin, at - begin);
        if (key == 0 || n == ACTION_KEYS_MAX) {
            return err_set(err,
                           key == 0 ? "no key '%.*s'; write a, C-u, F5, PageDown, Space"
                                    : "too many keys at '%.*s'",
                           (int)(at - begin < 40 ? at - begin : 40), value->text + begin);
        }
        config_free_key(&config->keymap, ACTION_TABLE[id].context, key);
        config->keymap.keys[id][n++] = key;
        while (at < value->len && (value->text[at] == ' ' || value->text[at] == '\t')) {
            at++;
        }
    }
    return 0;
}

static struct config_word config_trim(const char *text, size_t len)
{
    while (len > 0 && (*text == ' ' || *text == '\t')) {
        text++;
        len--;
    }
    while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t' || text[len - 1] == '\r')) {
        len--;
    }
    return (struct config_word){text, len};
}

static int config_line(struct config *config, const struct config_word *line, struct err *err)
{
    const char *equals = memchr(line->text, '=', line->len);
    if (line->len == 0 || line->text[0] == '#') {
        return 0;
    }
    /* The key "=" may be the value: the first one separates. */
    if (equals == NULL) {
        return err_set(err, "a line is 'name = value' or 'key ACTION = KEYS'");
    }
    struct config_word name = config_trim(line->text, (size_t)(equals - line->text));
    struct config_word value =
        config_trim(equals + 1, line->len - (size_t)(equals + 1 - line->text));
    if (name.len > 4 && memcmp(name.text, "key ", 4) == 0) {
        struct config_word action = config_trim(name.text + 4, name.len - 4);
        return config_keys(config, &action, &value, err);
    }
    for (int i = 0; i < CONFIG_SETTING_COUNT; i++) {
        if (config_is(&name, CONFIG_SETTINGS[i].name)) {
            return config_set(config, &CONFIG_SETTINGS[i], &value, err);
        }
    }
    return err_set(err, "no setting '%.*s'; cutline config prints all of them",
                   (int)(name.len < 60 ? name.len : 60), name.text);
}

int config_parse(struct config *config, const char *text, size_t len, struct err *err)
{
    const char *at = text;
    const char *end = text + len;
    int number = 1;
    while (at < end) {
        const char *eol = memchr(at, '\n', (size_t)(end - at));
        size_t bytes = eol == NULL ? (size_t)(end - at) : (size_t)(eol - at);
        struct config_word line = config_trim(at, bytes);
        if (config_line(config, &line, err) != 0) {
            return err_prefix(err, "line %d", number);
        }
        at += bytes + (eol == NULL ? 0 : 1);
        number++;
    }
    return 0;
}

void config_default(struct buf *out)
{
    struct config config;
    config_init(&config);
    buf_adds(out, "# Settings of cutline. Take away the # of what you change.\n");
    for (int i = 0; i < CONFIG_SETTING_COUNT; i++) {
        const struct config_setting *setting = &CONFIG_SETTINGS[i];
        buf_addf(out, "\n# %s: %s\n#%s = %s\n", setting->help,
                 setting->choices != NULL         ? setting->choices
                 : setting->type == CONFIG_NUMBER ? "a number"
                                                  : "yes no",
                 setting->name, setting->initial);
    }
    buf_adds(out, "\n# Keys: key ACTION = KEY ...; a key is taken from the action that had it.\n");
    for (int i = 0; i < ACTION_COUNT; i++) {
        char keys[128];
        buf_addf(out, "\n# %s\n#key %s = %s\n", ACTION_TABLE[i].help, ACTION_TABLE[i].name,
                 keydoc_keys(&config.keymap, (enum action_id)i, keys, sizeof keys));
    }
}
