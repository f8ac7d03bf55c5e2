-- CUDA graphs: two launches of a graph as one row each, a launch whose nodes were recorded (three
-- kernels on two streams that share one correlation id and overlap), and a graph that the device
-- itself launched (correlation id 0, no call).
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
CREATE TABLE ProcessStreams (globalPid INTEGER NOT NULL, filenameId INTEGER NOT NULL, contentId INTEGER NOT NULL);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_NAME', 'hand-made'), ('EXPORT_SCHEMA_VERSION', '3.25.0');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
  globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  graphId INTEGER NOT NULL, graphExecId INTEGER NOT NULL);
INSERT INTO StringIds VALUES (1, 'cudaGraphLaunch_v10000'), (2, 'node_kernel(float*)'), (3, 'node_kernel');
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
  (1000, 2000, 0, (1 << 48) + (100 << 24) + 100, 1, 1, 0, NULL),
  (20000, 21000, 0, (1 << 48) + (100 << 24) + 100, 2, 1, 0, NULL),
  (40000, 41000, 0, (1 << 48) + (100 << 24) + 100, 3, 1, 0, NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES
  (3000, 13000, 0, 1, 0, 7, 1, (1 << 48) + (100 << 24), 5, 6),
  (22000, 33000, 0, 1, 0, 7, 2, (1 << 48) + (100 << 24), 5, 6),
  (60000, 61000, 0, 1, 0, 7, 0, (1 << 48) + (100 << 24), 9, 10);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (42000, 45000, 0, 1, 7, 3, (1 << 48) + (100 << 24), 2, 3, (5 << 32) + 1),
  (43000, 48000, 0, 1, 21, 3, (1 << 48) + (100 << 24), 2, 3, (5 << 32) + 2),
  (44000, 46000, 0, 1, 7, 3, (1 << 48) + (100 << 24), 2, 3, (5 << 32) + 3);
