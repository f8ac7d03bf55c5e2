-- Not a capture: a StringIds table and nothing else that an export has.
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE notes (text TEXT);
