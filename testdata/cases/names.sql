-- Names from a stranger. One kernel for each of: terminal controls (clear screen, title, bell), a
-- C1 control, invalid and cut UTF-8, a NUL inside, newline and tab, quotes commas and formula
-- signs, right-to-left override, wide and combining characters, 512 KiB, an empty name, and a name
-- id that StringIds does not have.
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
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER,
  category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
INSERT INTO StringIds VALUES
  (1, 'cudaLaunchKernel_v7000'),
  (10, 'clear' || char(27) || '[2J' || char(27) || ']0;owned' || char(7) || 'end'),
  (11, 'c1' || char(155) || '31mred'),
  (12, CAST(x'62616464ff80c3286e756d' AS TEXT)),
  (13, CAST(x'637574e282' AS TEXT)),
  (14, CAST(x'6e756c00696e73696465' AS TEXT)),
  (15, 'two' || char(10) || 'lines' || char(9) || 'and a tab' || char(13)),
  (16, '=cmd("x"),"quoted", ''single''; | & < > \ %s %n'),
  (17, 'rtl' || char(8238) || 'gnp.exe' || char(8236)),
  (18, '行列積カーネル e' || char(769) || char(8205) || 'x'),
  (19, 'long_' || replace(hex(zeroblob(262144)), '0', 'k')),
  (20, '');
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName, shortName, mangledName)
  WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 21)
  SELECT i * 10000, i * 10000 + 8000, 0, 1, 7, i, (1 << 48) + (100 << 24), i, i, i FROM n;
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME
  WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 21)
  SELECT i * 10000 - 5000, i * 10000 - 2000, 0, (1 << 48) + (100 << 24) + 100, i, 1, 0, NULL FROM n;
INSERT INTO NVTX_EVENTS
  WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 21)
  SELECT i * 10000 - 6000, i * 10000 - 1000, 59, NULL, NULL, NULL, (SELECT value FROM StringIds WHERE id = i),
         (1 << 48) + (100 << 24) + 100, NULL, CASE WHEN i = 21 THEN 21 END, 0 FROM n;
INSERT INTO ThreadNames VALUES (10, 10, (1 << 48) + (100 << 24) + 100);
