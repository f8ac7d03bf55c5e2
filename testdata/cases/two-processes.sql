-- Two processes whose correlation ids are the same numbers, each with its own CUDA device 0 that is
-- a different GPU (CUDA_VISIBLE_DEVICES). Joined by correlation id alone, each kernel would have
-- two launches.
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
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL, uuid TEXT);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
INSERT INTO PROCESSES VALUES ((1 << 48) + (100 << 24), 100, 'rank0'), ((1 << 48) + (200 << 24), 200, 'rank1');
INSERT INTO TARGET_INFO_GPU VALUES (1, 0, 'Model GPU A'), (1, 3, 'Model GPU B');
INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 100, 'GPU-a'), (3, 0, 200, 'GPU-b');
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'work(int)'), (3, 'work');
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
  (1000, 2000, 0, (1 << 48) + (100 << 24) + 100, 1, 1, 0, NULL),
  (1500, 2500, 0, (1 << 48) + (200 << 24) + 200, 1, 1, 0, NULL),
  (9000, 9500, 0, (1 << 48) + (100 << 24) + 100, 2, 1, 0, NULL),
  (9100, 9600, 0, (1 << 48) + (200 << 24) + 200, 2, 1, 0, NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (3000, 5000, 0, 1, 7, 1, (1 << 48) + (100 << 24), 2, 3, 2),
  (3500, 6500, 0, 1, 7, 1, (1 << 48) + (200 << 24), 2, 3, 2),
  (10000, 12000, 0, 1, 7, 2, (1 << 48) + (100 << 24), 2, 3, 2),
  (10500, 11000, 0, 1, 7, 2, (1 << 48) + (200 << 24), 2, 3, 2);
