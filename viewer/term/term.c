/*
 * term: see term.h.
 *
 * Signals that ask to leave only set a flag while term_wait sleeps in pselect: what there is to
 * keep is kept, then the program leaves. At any other time the program computes, or writes to a
 * terminal that does not read: then SIGTERM, SIGHUP, SIGQUIT and a second SIGINT end it at once, in
 * the handler. The other signals are blocked except in pselect, so that none is lost between
 * looking and sleeping. Stopping (SIGTSTP) is done here rather than by ncurses: the screen is given
 * back, the default action is taken, and what follows is drawn anew; after SIGSTOP, which nobody
 * sees coming, the modes of the terminal are made anew as well. Faults and the like: guard.h.
 */
#include "viewer/term/term.h"

#define NCURSES_WIDECHAR 1
#include <errno.h>
#include <ncurses.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <unistd.h>
#include <wchar.h>

#include "viewer/term/guard.h"
#include "viewer/term/input.h"
#include "viewer/term/term_info.h"

enum {
    TERM_SIGNALS = 7,
    TERM_LEAVING = 4, /* the first of them ask to leave */
    TERM_ESCAPE_MS = 25, /* a lone Escape is told from the begin of a key sequence */
    TERM_SIDE_MAX = 32767, /* ncurses counts columns and rows in a short */
    TERM_CELLS_MAX = 1 << 22, /* more are no screen, but a mistake */
    TERM_NOTE_BYTES = 128,
};

static const int TERM_CAUGHT[TERM_SIGNALS] = {SIGTERM, SIGINT,   SIGHUP, SIGQUIT,
                                              SIGTSTP, SIGWINCH, SIGCONT};

struct terminal {
    SCREEN *screen;
    struct theme theme;
    sigset_t old_mask;
    sigset_t wait_mask;
    sigset_t leaving;
    struct sigaction old[TERM_SIGNALS];
    bool modern; /* of a family that understands what xterm does */
    bool mouse;
    bool asks; /* for its background: the theme follows the answer */
    char note[TERM_NOTE_BYTES];
};

/* What handlers saw: the one state that they may touch. */
static volatile sig_atomic_t term_leave;
static volatile sig_atomic_t term_stop;
static volatile sig_atomic_t term_resized;
static volatile sig_atomic_t term_continued;
static volatile sig_atomic_t term_waiting; /* in pselect */

static void leave(int number)
{
    bool again = term_leave != 0;
    if (term_waiting != 0 || (number == SIGINT && !again)) {
        term_leave = number;
        return;
    }
    guard_restore();
    _exit(128 + number);
}

static void term_on_signal(int number)
{
    if (number == SIGTSTP) {
        term_stop = 1;
    } else if (number == SIGWINCH) {
        term_resized = 1;
    } else if (number == SIGCONT) {
        term_continued = 1;
    } else {
        leave(number);
    }
}

int term_signal(void)
{
    return (int)term_leave;
}

void term_forget_signal(void)
{
    term_leave = 0;
}

/* As they are before ncurses sets some. */
static void term_remember_signals(struct terminal *term)
{
    for (int i = 0; i < TERM_SIGNALS; i++) {
        (void)sigaction(TERM_CAUGHT[i], NULL, &term->old[i]);
    }
}

static void term_catch(struct terminal *term)
{
    struct sigaction action;
    sigset_t block;
    memset(&action, 0, sizeof action);
    action.sa_handler = term_on_signal;
    action.sa_flags = SA_RESTART; /* a frame is written whole; pselect ends all the same */
    (void)sigfillset(&action.sa_mask);
    (void)sigemptyset(&block);
    (void)sigemptyset(&term->leaving);
    for (int i = 0; i < TERM_SIGNALS; i++) {
        (void)sigaddset(i < TERM_LEAVING ? &term->leaving : &block, TERM_CAUGHT[i]);
    }
    (void)sigprocmask(SIG_BLOCK, &block, &term->old_mask);
    term->wait_mask = term->old_mask;
    for (int i = 0; i < TERM_SIGNALS; i++) {
        (void)sigdelset(&term->wait_mask, TERM_CAUGHT[i]);
        if (i >= TERM_LEAVING || term->old[i].sa_handler != SIG_IGN) {
            (void)sigaction(TERM_CAUGHT[i], &action, NULL);
        }
    }
}

static void term_uncatch(struct terminal *term)
{
    for (int i = 0; i < TERM_SIGNALS; i++) {
        (void)sigaction(TERM_CAUGHT[i], &term->old[i], NULL);
    }
    (void)sigprocmask(SIG_SETMASK, &term->old_mask, NULL);
}

/* How many colours the terminal has, as the theme counts them. */
static enum theme_colors term_colors(int wanted)
{
    enum theme_colors most = !has_colors()         ? THEME_MONO
                             : COLORS >= 0x1000000 ? THEME_TRUECOLOR
                             : COLORS >= 256       ? THEME_256
                             : COLORS >= 16        ? THEME_16
                                                   : THEME_8;
    if (wanted < 0 || (enum theme_colors)wanted > most) {
        return most;
    }
    /* A direct-colour terminal takes 0xRRGGBB only; fewer colours are written as such. */
    return (enum theme_colors)wanted;
}

/* GNU screen keeps Escape back until the next key while a program asks for the mouse. */
static bool term_in_screen(void)
{
    const char *session = getenv("STY");
    return session != NULL && session[0] != '\0';
}

/* Is it of a family that understands what xterm has understood for long? Old ones may print it. */
static bool is_modern(const char *kind)
{
    static const char *const families[] = {"xterm", "tmux",  "screen",  "rxvt",    "alacritty",
                                           "foot",  "kitty", "st",      "wezterm", "konsole",
                                           "vte",   "gnome", "ghostty", "contour", "iterm"};
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        if (strncmp(kind, families[i], strlen(families[i])) == 0) {
            return true;
        }
    }
    return false;
}

static void term_write(const char *text)
{
    (void)fputs(text, stdout);
    (void)fflush(stdout);
}

/* What ncurses does not ask for by itself. */
static void term_modes(const struct terminal *term, bool on)
{
    if (term->modern) {
        term_write(on ? INPUT_PASTE_ON : INPUT_PASTE_OFF);
    }
    if (term->modern && term->mouse) {
        term_write(on ? INPUT_DRAG_ON : INPUT_DRAG_OFF);
    }
}

/* What COLORFGBG tells, which some terminals set: "15;0", the last one being the background. */
static bool environment_is_light(void)
{
    const char *text = getenv("COLORFGBG");
    const char *last = text != NULL ? strrchr(text, ';') : NULL;
    return last != NULL && (strcmp(last, ";7") == 0 || strcmp(last, ";15") == 0);
}

static void term_start_theme(struct terminal *term, const struct term_options *options)
{
    term->theme.kind = options->theme;
    term->theme.colors = term_colors(options->colors);
    if (!options->ask_theme || term->theme.colors == THEME_MONO) {
        return;
    }
    if (environment_is_light()) {
        term->theme.kind = THEME_LIGHT;
    }
    term->asks = term->modern;
    if (term->asks) {
        /* Who does not understand it says nothing; the answer may come at any time. */
        term_write(INPUT_ASK_BACKGROUND);
    }
}

static void term_start(struct terminal *term, const struct term_options *options)
{
    input_begin();
    (void)cbreak();
    (void)noecho();
    (void)nonl();
    (void)keypad(stdscr, TRUE);
    (void)set_escdelay(TERM_ESCAPE_MS);
    (void)nodelay(stdscr, TRUE);
    (void)curs_set(0);
    (void)intrflush(stdscr, FALSE);
    if (has_colors()) {
        (void)start_color();
        (void)use_default_colors();
    }
    term->mouse = options->mouse && !term_in_screen();
    if (term->mouse) {
        input_want_mouse();
    }
    term_start_theme(term, options);
    term_modes(term, true);
}

/* The size that the terminal tells; false where it does not. */
static bool term_asked_size(int *cols, int *rows)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
        return false;
    }
    *cols = size.ws_col;
    *rows = size.ws_row;
    return true;
}

static bool term_fits(int cols, int rows)
{
    return cols <= TERM_SIDE_MAX && rows <= TERM_SIDE_MAX && cols * rows <= TERM_CELLS_MAX;
}

static void term_take_size(struct terminal *term)
{
    int cols;
    int rows;
    term_resized = 0;
    term_size(term, &cols, &rows);
    (void)resizeterm(rows, cols);
}

/* Takes the screen; from here on every way out gives it back. */
static int term_begin(struct terminal *term, const char *kind)
{
    char leaving[GUARD_BYTES];
    int cols = 0;
    int rows = 0;
    term_leave = 0;
    term_stop = 0;
    term_resized = 0;
    term_continued = 0;
    term_remember_signals(term);
    guard_begin(STDOUT_FILENO, leaving, term_info_leave(leaving, sizeof leaving));
    /* ncurses begins with the size that terminfo tells: what the terminal says may be anything. */
    bool odd = term_asked_size(&cols, &rows) && !term_fits(cols, rows);
    if (odd) {
        use_env(FALSE);
    }
    term->screen = newterm(kind, stdout, stdin);
    if (term->screen == NULL) {
        guard_end();
        return -1;
    }
    term_catch(term);
    if (odd) {
        term_take_size(term);
    }
    return 0;
}

/* A kind of terminal that is known here, and can stand for the named one: NULL where none is. */
static const char *stand_in(const char *name)
{
    /* Terminals in a terminal speak their own dialect; all others that are in use speak xterm's. */
    static const char *const others[][2] = {
        {"tmux", "tmux-256color"},
        {"tmux", "screen-256color"},
        {"screen", "screen-256color"},
        {"screen", "screen"},
        {"rxvt", "rxvt"},
        {"linux", "linux"},
        {"", "xterm-256color"},
        {"", "xterm"},
        {"", "vt100"},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const char *begin = others[i][0];
        if (strncmp(name, begin, strlen(begin)) == 0 &&
            term_info(others[i][1], STDOUT_FILENO) == TERM_INFO_ABLE) {
            return others[i][1];
        }
    }
    return NULL;
}

/* The kind of terminal to speak to, and a word in note where that is not what TERM says. */
static const char *choose_kind(char *note, struct err *err)
{
    const char *name = getenv("TERM");
    enum term_info known = TERM_INFO_UNKNOWN;
    name = name == NULL ? "" : name;
    if (name[0] != '\0') {
        known = term_info(name, STDOUT_FILENO);
    }
    if (known == TERM_INFO_ABLE) {
        return name;
    }
    if (known == TERM_INFO_UNABLE) {
        return err_null(err, "the terminal %.40s cannot place the cursor: use --dump", name);
    }
    const char *other = stand_in(name);
    if (other == NULL) {
        return err_null(err,
                        "TERM=%.40s is not known, nor is any other terminal: install terminfo "
                        "(ncurses-base), or use --dump",
                        name);
    }
    if (name[0] == '\0') {
        (void)snprintf(note, TERM_NOTE_BYTES, "TERM is not set; the terminal is taken for %s",
                       other);
    } else {
        (void)snprintf(note, TERM_NOTE_BYTES, "TERM=%.40s is not known here; it is taken for %s",
                       name, other);
    }
    return other;
}

struct terminal *term_open(const struct term_options *options, struct err *err)
{
    char note[TERM_NOTE_BYTES] = "";
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        return err_null(err, "the timeline needs a terminal: --dump prints it as text");
    }
    const char *kind = choose_kind(note, err);
    if (kind == NULL) {
        return NULL;
    }
    struct terminal *term = calloc(1, sizeof *term);
    if (term == NULL) {
        return err_null(err, "not enough memory for the terminal");
    }
    memcpy(term->note, note, sizeof note);
    term->modern = is_modern(kind) && !term_in_screen();
    if (term_begin(term, kind) != 0) {
        free(term);
        return err_null(err, "the terminal %.40s could not be opened", kind);
    }
    term_start(term, options);
    return term;
}

const char *term_note(const struct terminal *term)
{
    return term->note;
}

/* Nobody may be reading: what ncurses writes could wait for ever. */
static bool term_is_left(void)
{
    return term_leave != 0 && term_leave != SIGINT;
}

void term_close(struct terminal *term)
{
    if (term == NULL) {
        return;
    }
    if (term_is_left()) {
        guard_restore();
    } else {
        (void)mousemask(0, NULL);
        term_modes(term, false);
        if (term->asks && input_background() == INPUT_BACKGROUND_UNKNOWN) {
            (void)flushinp(); /* an answer that comes now is not for the shell */
        }
        /* Where there is no second screen to leave, the prompt comes on a clean line. */
        (void)attr_set(A_NORMAL, 0, NULL);
        (void)move(LINES - 1, 0);
        (void)clrtoeol();
        (void)refresh();
        (void)endwin();
        delscreen(term->screen);
    }
    guard_end();
    term_uncatch(term);
    free(term);
}

void term_size(const struct terminal *term, int *cols, int *rows)
{
    (void)term;
    if (!term_asked_size(cols, rows)) {
        *cols = COLS;
        *rows = LINES;
    }
    *cols = *cols < TERM_SIDE_MAX ? *cols : TERM_SIDE_MAX;
    *rows = *rows < TERM_SIDE_MAX ? *rows : TERM_SIDE_MAX;
    *rows = term_fits(*cols, *rows) ? *rows : TERM_CELLS_MAX / *cols;
}

const struct theme *term_theme(const struct terminal *term)
{
    return &term->theme;
}

static attr_t term_attributes(uint8_t attrs)
{
    static const struct {
        uint8_t from;
        attr_t to;
    } map[] = {{THEME_BOLD, A_BOLD},
               {THEME_REVERSE, A_REVERSE},
               {THEME_UNDERLINE, A_UNDERLINE},
               {THEME_FAINT, A_DIM}};
    attr_t out = A_NORMAL;
    for (size_t i = 0; i < sizeof map / sizeof map[0]; i++) {
        out |= (attrs & map[i].from) != 0 ? map[i].to : A_NORMAL;
    }
    return out;
}

/* Sets the attributes of what follows. Pairs are made as they are needed; ncurses drops the oldest
 * when the terminal has too few. */
static void term_look(const struct theme_look *look)
{
    attr_t attrs = term_attributes(look->attrs);
    int pair = 0;
    if (look->fg != -1 || look->bg != -1) {
        pair = alloc_pair(look->fg, look->bg);
        pair = pair < 0 ? 0 : pair;
    }
    /* A pair above 32767 does not fit in a short: ncurses takes it through opts. */
    (void)attr_set(attrs, (short)(pair < 32767 ? pair : 0), &pair);
}

static bool term_same_look(const struct cell *a, const struct cell *b)
{
    return a->role == b->role && a->hue == b->hue && a->rgb == b->rgb;
}

static void term_draw_row(struct terminal *term, const struct canvas *canvas, int row)
{
    const struct cell *cells = &canvas->cells[(size_t)row * (size_t)canvas->cols];
    wchar_t text[256];
    int col = 0;
    (void)move(row, 0);
    while (col < canvas->cols) {
        struct theme_look look = theme_look(&term->theme, &cells[col]);
        int begin = col;
        int len = 0;
        while (col < canvas->cols && len < 255 && term_same_look(&cells[col], &cells[begin])) {
            if (cells[col].ch != 0) {
                text[len++] = (wchar_t)cells[col].ch;
            }
            col++;
        }
        term_look(&look);
        (void)addnwstr(text, len);
    }
}

void term_draw(struct terminal *term, const struct canvas *canvas, bool whole)
{
    (void)erase();
    for (int row = 0; row < canvas->rows && row < LINES; row++) {
        term_draw_row(term, canvas, row);
    }
    if (whole) {
        (void)clearok(stdscr, TRUE);
    }
    (void)refresh();
}

/* Gives the terminal back, stops as the shell asked, and takes it again. */
static void term_pause(struct terminal *term)
{
    struct sigaction ours;
    sigset_t stop;
    term_stop = 0;
    term_modes(term, false);
    (void)def_prog_mode();
    (void)endwin();
    memset(&ours, 0, sizeof ours);
    ours.sa_handler = SIG_DFL;
    (void)sigaction(SIGTSTP, &ours, NULL);
    (void)raise(SIGTSTP);
    (void)sigemptyset(&stop);
    (void)sigaddset(&stop, SIGTSTP);
    (void)sigprocmask(SIG_UNBLOCK, &stop, NULL);
    /* Here we are stopped, until SIGCONT. */
    (void)sigprocmask(SIG_BLOCK, &stop, NULL);
    ours.sa_handler = term_on_signal;
    (void)sigaction(SIGTSTP, &ours, NULL);
    (void)reset_prog_mode();
    (void)refresh();
    term_modes(term, true);
    /* That we were continued is known already. */
    (void)sigemptyset(&stop);
    (void)sigaddset(&stop, SIGCONT);
    (void)sigtimedwait(&stop, NULL, &(const struct timespec){0});
}

/* Continued after a stop that was not seen coming: the shell has had the terminal since. In the
 * background there is nothing to draw on: stopped again until the shell calls. */
static void term_resume(const struct terminal *term)
{
    term_continued = 0;
    if (tcgetpgrp(STDIN_FILENO) != getpgrp()) {
        (void)raise(SIGTTIN);
    }
    (void)endwin();
    (void)refresh();
    term_modes(term, true);
}

/* What signals have told; TERM_NOTHING where there was none. */
static enum term_event term_told(struct terminal *term)
{
    if (term_leave != 0) {
        return TERM_SIGNAL;
    }
    if (term_stop != 0 || term_continued != 0) {
        if (term_stop != 0) {
            term_pause(term);
        } else {
            term_resume(term);
        }
        term_take_size(term);
        return TERM_RESUME;
    }
    if (term_resized != 0) {
        term_take_size(term);
        return TERM_RESIZE;
    }
    return TERM_NOTHING;
}

/* Sleeps until there is input, a signal, or the time is over; returns as pselect does. */
static int term_sleep(const struct terminal *term, const struct timespec *most)
{
    fd_set in;
    int n = -1;
    FD_ZERO(&in);
    FD_SET(STDIN_FILENO, &in);
    (void)sigprocmask(SIG_BLOCK, &term->leaving, NULL);
    errno = EINTR;
    if (term_leave == 0) {
        term_waiting = 1;
        n = pselect(STDIN_FILENO + 1, &in, NULL, NULL, most, &term->wait_mask);
        term_waiting = 0;
    }
    int code = errno;
    (void)sigprocmask(SIG_UNBLOCK, &term->leaving, NULL);
    errno = code;
    return n;
}

enum term_event term_wait(struct terminal *term, int ms)
{
    const struct timespec most = {ms / 1000, ms % 1000 * 1000000L};
    for (;;) {
        enum term_event told = term_told(term);
        if (told != TERM_NOTHING) {
            return told;
        }
        int n = term_sleep(term, ms < 0 ? NULL : &most);
        if (n > 0) {
            int bytes = 0;
            bool gone = ioctl(STDIN_FILENO, FIONREAD, &bytes) != 0 || bytes == 0;
            return gone ? TERM_CLOSED : TERM_KEY;
        }
        if (n == 0) {
            return TERM_NOTHING;
        }
        if (errno != EINTR) {
            return TERM_CLOSED;
        }
    }
}

bool term_read(struct terminal *term, struct key *key)
{
    bool is_key = input_read(key);
    if (term->asks && input_background() != INPUT_BACKGROUND_UNKNOWN) {
        term->theme.kind = input_background() == INPUT_BACKGROUND_LIGHT ? THEME_LIGHT : THEME_DARK;
    }
    return is_key;
}

void term_send(struct terminal *term, const char *bytes, size_t len)
{
    (void)term;
    (void)fflush(stdout);
    while (len > 0) {
        ssize_t n = write(STDOUT_FILENO, bytes, len);
        if (n <= 0) {
            return;
        }
        bytes += n;
        len -= (size_t)n;
    }
}
