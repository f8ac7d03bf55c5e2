-- Not a capture: the database of a DLProf run.
CREATE TABLE db_version (version TEXT);
CREATE TABLE dictionary (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE read_only_kernels (id INTEGER PRIMARY KEY, name_id INTEGER, duration INTEGER);
CREATE TABLE op_nodes (id INTEGER PRIMARY KEY, name_id INTEGER);
INSERT INTO db_version VALUES ('1.8.0');
