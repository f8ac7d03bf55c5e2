/* What a command line shows of its secrets: nothing, and everything else. */
#include <stdlib.h>
#include <string.h>

#include "analysis/tests/check.h"
#include "capture/spool/secret.h"

/* Words are parted by "|" here. */
static const struct {
    const char *given;
    const char *wanted;
} cases[] = {
    {"python|train.py|--lr=0.1", "python|train.py|--lr=0.1"},
    {"./a|--api-key=abc def|x", "./a|--api-key=***|x"},
    {"./a|--token|abc|x", "./a|--token|***|x"},
    {"./a|--hf_token|abc|--lr|3", "./a|--hf_token|***|--lr|3"},
    {"./a|--token|--verbose", "./a|--token|--verbose"},
    {"./a|-hfToken|abc", "./a|-hfToken|***"},
    {"./a|--token", "./a|--token"},
    {"./a|--api-key=", "./a|--api-key="},
    {"PASSWORD=x y", "PASSWORD=***"},
    {"env|AWS_SECRET_ACCESS_KEY=abc/def+1|b", "env|AWS_SECRET_ACCESS_KEY=***|b"},
    {"sh|-c|export TOKEN=abc; ./run --password 'x y' --n 3",
     "sh|-c|export TOKEN=***; ./run --password *** --n 3"},
    {"sh|-c|a=1 WANDB_API_KEY=\"k k\" python t.py --steps 5",
     "sh|-c|a=1 WANDB_API_KEY=*** python t.py --steps 5"},
    {"curl|-H|Authorization: Bearer abc.def", "curl|-H|Authorization: ***"},
    {"curl|-H|X-Api-Key: abc|http://h/p", "curl|-H|X-Api-Key: ***|http://h/p"},
    {"curl|-d|{\"api_key\": \"abc\", \"n\": 1}", "curl|-d|{\"api_key\": ***, \"n\": 1}"},
    {"curl|https://h/p?api_key=abc&n=1", "curl|https://h/p?api_key=***&n=1"},
    {"psql|postgres://me:pw@host/db", "psql|postgres://me:***@host/db"},
    {"git|https://me@host/r", "git|https://me@host/r"},
    {"git|https://abcdefghijklmnopqrst01@host/r", "git|https://***@host/r"},
    {"login|hf_abcdefghij0123456789", "login|***"},
    {"login|--relogin|ghp_abcdefghij0123456789XY|z", "login|--relogin|***|z"},
    {"a|eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.abc", "a|***"},
    {"a|--key=0123456789abcdef0123", "a|--key=***"},
    {"a|--key=/etc/ssl/private/0123456789abcdef.pem",
     "a|--key=/etc/ssl/private/0123456789abcdef.pem"},
    {"a|--sort-key=name|--tokenizer=gpt2|--max-new-tokens|128",
     "a|--sort-key=name|--tokenizer=gpt2|--max-new-tokens|128"},
    {"a|--token-budget=5|--password-file=/p", "a|--token-budget=5|--password-file=/p"},
    {"a|hf_models/llama-3-8b-instruct", "a|hf_models/llama-3-8b-instruct"},
    {"a|--bypass|x|-p|y", "a|--bypass|x|-p|y"},
    {"||a||", "||a||"},
    {"", ""},
    {"=|:|--|-|@|://|a://@|'\"`", "=|:|--|-|@|://|a://@|'\"`"},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char words[256];
        char out[256];
        size_t bytes = strlen(cases[i].given);
        memcpy(words, cases[i].given, bytes);
        for (size_t k = 0; k < bytes; k++) {
            words[k] = words[k] == '|' ? '\0' : words[k];
        }
        size_t got = secret_hide(out, sizeof(out) - 1, words, bytes);
        for (size_t k = 0; k < got; k++) {
            out[k] = out[k] == '\0' ? '|' : out[k];
        }
        out[got] = '\0';
        assert_string_equal(out, cases[i].wanted);
    }
}

/* Every length of the input and of the output: nothing is read or written beyond (sanitizers look). */
static void test_sizes(void **state)
{
    static const char given[] = "sh\0-c\0X_TOKEN=a; curl 'Authorization: Bearer q' --key "
                                "\"p://u:v@h\" --pw\0eyJ0123456789abcdef";
    (void)state;
    for (size_t bytes = 0; bytes <= sizeof(given); bytes++) {
        char *words = malloc(bytes + 1);
        assert_non_null(words);
        memcpy(words, given, bytes);
        words = realloc(words, bytes == 0 ? 1 : bytes);
        assert_non_null(words);
        for (size_t size = 0; size < 40; size++) {
            char *out = malloc(size + 1);
            assert_non_null(out);
            assert_true(secret_hide(out, size, words, bytes) <= size);
            free(out);
        }
        free(words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
