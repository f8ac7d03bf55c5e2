-- A profiler that was restarted three times: the first record of each time is off by 100,000 s; and 20
-- of 1,000 kernels begin 300 ns before the call that launched them. Rows are in no order. The capture is
-- 0.1 s long; three rows are left out and named, 20 ops are early.
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
  globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL);
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'k');
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_NAME', 'hand-made'), ('EXPORT_SCHEMA_VERSION', '3.25.0');
CREATE TEMP TABLE n AS WITH RECURSIVE r(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM r WHERE i < 999)
  SELECT i, (i * 7919) % 1000 AS place FROM r;
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i * 100000, i * 100000 + 5000, 0, (1 << 48) + (100 << 24) + 100, i + 1, 1, 0
  FROM n ORDER BY place;
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL
  SELECT begin, begin + 80000, 0, 1, 7, i + 1, (1 << 48) + (100 << 24), 2, 2
  FROM (SELECT i, place, i * 100000 + CASE WHEN i IN (0, 400, 800) THEN 10000 - 100000000000000
                                           WHEN i % 50 = 7 THEN -300 ELSE 10000 END AS begin FROM n) ORDER BY place;
