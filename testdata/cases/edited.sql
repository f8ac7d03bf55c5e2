-- A capture that others have worked on: columns and tables added, an index, values of another type
-- (text numbers, real times), a view and a trigger.
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
ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN kernelName TEXT;
CREATE TABLE cudaKernelStats (name TEXT, total INTEGER);
CREATE INDEX by_start ON CUPTI_ACTIVITY_KIND_KERNEL (start);
CREATE VIEW top AS SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY end - start DESC;
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'k(int)'), (3, 'k');
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
  ('1000', '2000', 0, (1 << 48) + (100 << 24) + 100, '1', 1, 0, NULL),
  (5000.0, 6000.5, 0, (1 << 48) + (100 << 24) + 100, 2, 1, 0, NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (3000.0, '4000', 0, 1, 7, 1, (1 << 48) + (100 << 24), 2, 3, 2, 'k'),
  (7000, 8000, 0, 1, 7, 2, (1 << 48) + (100 << 24), 2, 3, 2, 'k');
