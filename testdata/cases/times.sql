-- Times that cannot be taken at their word: ops whose times were not collected (0, 0), one that
-- ends before it begins, one before the collection began (negative), one of no length, ops that
-- overlap on one stream, an op of an unknown device, and rows out of order.
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
CREATE TABLE ProcessStreams (globalPid INTEGER NOT NULL, filenameId INTEGER NOT NULL, contentId INTEGER NOT NULL);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_NAME', 'hand-made'), ('EXPORT_SCHEMA_VERSION', '3.25.0');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
  globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER);
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'k(int)'), (3, 'k');
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (0, 0, 0, 1, 7, 1, (1 << 48) + (100 << 24), 2, 3, 2), (0, 0, 0, 1, 7, 2, (1 << 48) + (100 << 24), 2, 3, 2),
  (9000, 8000, 0, 1, 7, 3, (1 << 48) + (100 << 24), 2, 3, 2),
  (-5000, -4000, 0, 1, 7, 4, (1 << 48) + (100 << 24), 2, 3, 2),
  (20000, 20000, 0, 1, 7, 5, (1 << 48) + (100 << 24), 2, 3, 2),
  (30000, 40000, 0, 1, 7, 6, (1 << 48) + (100 << 24), 2, 3, 2),
  (35000, 45000, 0, 1, 7, 7, (1 << 48) + (100 << 24), 2, 3, 2),
  (36000, 37000, 0, 1, 7, 8, (1 << 48) + (100 << 24), 2, 3, 2),
  (10000, 11000, 5, 9, 7, 9, (1 << 48) + (100 << 24), 2, 3, 2);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
  SELECT i * 100, i * 100 + 50, 0, (1 << 48) + (100 << 24) + 100, i, 1, 0, NULL FROM n;
