-- Call chains were recorded: each call is there twice, an outer row of class 67 around the real
-- one, with the same correlation id. The outer rows are no API calls: there are 2 calls and 1
-- kernel here.
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
INSERT INTO StringIds VALUES
  (1, 'cudaMalloc'),
  (2, 'cudaMalloc_v3020'),
  (3, 'cudaLaunchKernel'),
  (4, 'cudaLaunchKernel_v7000'),
  (5, 'k()'),
  (6, 'k');
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
  (900, 2100, 67, (1 << 48) + (100 << 24) + 100, 1, 1, 0, 77),
  (1000, 2000, 0, (1 << 48) + (100 << 24) + 100, 1, 2, 0, NULL),
  (2900, 4100, 67, (1 << 48) + (100 << 24) + 100, 2, 3, 0, 78),
  (3000, 4000, 0, (1 << 48) + (100 << 24) + 100, 2, 4, 0, NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5000, 6000, 0, 1, 7, 2, (1 << 48) + (100 << 24), 5, 6, 5);
