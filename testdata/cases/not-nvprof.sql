-- Not a capture: what nvprof -o writes, which has kernel tables of the same names but no StringIds.
CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY AUTOINCREMENT, value TEXT NOT NULL);
CREATE TABLE Version (version INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (_id_ INTEGER PRIMARY KEY AUTOINCREMENT, cbid INT, start INT, end INT, processId INT, threadId INT, correlationId INT, returnValue INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (_id_ INTEGER PRIMARY KEY AUTOINCREMENT, start INT, end INT, deviceId INT, streamId INT, correlationId INT, name INT);
INSERT INTO Version VALUES (9);
