/*
 * tour: six steps that teach the keys by finding the gap that is planted in the demo capture. A
 * step is over when its state is reached, however the person got there.
 */
#ifndef CUTLINE_APP_TOUR_H
#define CUTLINE_APP_TOUR_H

struct app;

/* The text of the step that the app is at; {name} stands for the key of an action. "" without tour.
 */
const char *tour_text(const struct app *app);
/* "2/6" */
int tour_steps(void);
void tour_begin(struct app *app);
/* Goes on while the present step is over. */
void tour_advance(struct app *app);

#endif
