-- NVTX that is not a neat stack: a range never ended, start/end ranges (one ended on another
-- thread, one still open), marks, registered strings (textId), a textId without its string, two
-- domains whose ranges cross on one thread, a range without text, one of no length.
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
CREATE TABLE ProcessStreams (globalPid INTEGER NOT NULL, filenameId INTEGER NOT NULL, contentId INTEGER NOT NULL);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_NAME', 'hand-made'), ('EXPORT_SCHEMA_VERSION', '3.25.0');
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER,
  category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
INSERT INTO StringIds VALUES (1, 'registered'), (2, 'other domain');
INSERT INTO NVTX_EVENTS VALUES
  (0, NULL, 75, NULL, NULL, NULL, 'Library', (1 << 48) + (100 << 24) + 100, NULL, NULL, 5),
  (1000, NULL, 59, NULL, NULL, NULL, 'never popped', (1 << 48) + (100 << 24) + 100, NULL, NULL, 0),
  (2000, 9000, 59, NULL, NULL, 4278190335, 'outer', (1 << 48) + (100 << 24) + 100, NULL, NULL, 0),
  (3000, 5000, 59, NULL, NULL, NULL, NULL, (1 << 48) + (100 << 24) + 100, NULL, 1, 0),
  (4000, 7000, 59, NULL, NULL, NULL, NULL, (1 << 48) + (100 << 24) + 100, NULL, 2, 5),
  (6000, 6000, 59, NULL, NULL, NULL, 'no length', (1 << 48) + (100 << 24) + 100, NULL, NULL, 0),
  (6500, NULL, 34, NULL, NULL, NULL, 'a mark', (1 << 48) + (100 << 24) + 100, NULL, NULL, 0),
  (6500, NULL, 34, NULL, NULL, NULL, 'a mark at the same time', (1 << 48) + (100 << 24) + 100, NULL, NULL, 0),
  (7100, 7200, 59, NULL, NULL, NULL, NULL, (1 << 48) + (100 << 24) + 100, NULL, 99, 0),
  (7300, 7400, 59, NULL, NULL, NULL, NULL, (1 << 48) + (100 << 24) + 100, NULL, NULL, 0),
  (3500, 8500, 60, 1, NULL, NULL, 'same thread', (1 << 48) + (100 << 24) + 101, NULL, NULL, 0),
  (3600, 8600, 60, 2, NULL, NULL, 'ended elsewhere', (1 << 48) + (100 << 24) + 101, (1 << 48) + (100 << 24) + 102, NULL, 0),
  (3700, NULL, 60, 3, NULL, NULL, 'never ended', (1 << 48) + (100 << 24) + 101, NULL, NULL, 0);
