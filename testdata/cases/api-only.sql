-- API calls but no GPU work: one process that asked for devices, failed to launch (error 98) and
-- ended.
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
CREATE TABLE ProcessStreams (globalPid INTEGER NOT NULL, filenameId INTEGER NOT NULL, contentId INTEGER NOT NULL);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_NAME', 'hand-made'), ('EXPORT_SCHEMA_VERSION', '3.25.0');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
  globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
INSERT INTO StringIds VALUES
  (1, 'cuInit'),
  (2, 'cudaGetDeviceCount_v3020'),
  (3, 'cudaLaunchKernel_v7000'),
  (4, 'probe');
INSERT INTO ThreadNames VALUES (4, 10, (1 << 48) + (100 << 24) + 100);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
  (1000, 900000, 1, (1 << 48) + (100 << 24) + 100, 1, 1, 0, NULL),
  (950000, 960000, 0, (1 << 48) + (100 << 24) + 100, 2, 2, 0, NULL),
  (970000, 990000, 0, (1 << 48) + (100 << 24) + 100, 3, 3, 98, NULL);
