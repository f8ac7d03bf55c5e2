-- Unified memory: migrations belong to no stream (context 0, stream 0, correlation id 0) and no
-- call launched them, not even one that happens to have the id 0.
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
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, srcKind INTEGER, dstKind INTEGER, migrationCause INTEGER,
  virtualAddress INTEGER);
INSERT INTO StringIds VALUES
  (1, 'cudaLaunchKernel_v7000'),
  (2, 'touch(float*)'),
  (3, 'touch'),
  (4, 'cudaMallocManaged_v6000');
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
  (100, 900, 0, (1 << 48) + (100 << 24) + 100, 0, 4, 0, NULL),
  (1000, 1500, 0, (1 << 48) + (100 << 24) + 100, 1, 1, 0, NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (2000, 9000, 0, 1, 7, 1, (1 << 48) + (100 << 24), 2, 3, 2);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES
  (2500, 3000, 0, 0, 0, 0, (1 << 48) + (100 << 24), 65536, 11, 7, 7, 2, 140000000000000),
  (3200, 3900, 0, 0, 0, 0, (1 << 48) + (100 << 24), 131072, 11, 7, 7, 3, 140000000065536),
  (9500, 9900, 0, 0, 0, 0, (1 << 48) + (100 << 24), 65536, 12, 7, 7, 2, 140000000000000);
