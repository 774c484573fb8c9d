package chserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// hostile has statements that would open a file, an address or another database, or grant the right to open them. The
// test replaces SECRET by the path of a file, FOLDER by a writable folder, and URL by the address of a server that
// detects requests.
var hostile = []string{
	// Statements that another user of this machine might send.
	"select * from file('SECRET', 'LineAsString')",
	"select count() from file('/etc/shadow','LineAsString')",
	"insert into function file('FOLDER/written.txt','LineAsString','line String') values ('hello')",
	"select * from url('URL', 'LineAsString')",

	// Variants of the first statement.
	"SELECT * FROM FILE('SECRET')", "SELECT * FROM `file`('SECRET', LineAsString)", `SELECT * FROM "file"('SECRET', LineAsString)`,
	"SELECT * FROM file /* x */ ('SECRET', LineAsString)", "SELECT * FROM file -- x\n('SECRET', LineAsString)", "SELECT * FROM file\t\n(\n'SECRET')",
	`SELECT * FROM "\x66ile"('SECRET')`, "SELECT * FROM `fil\\145`('SECRET')",
	"WITH x AS (SELECT * FROM file('SECRET', LineAsString)) SELECT * FROM x",
	"SELECT (SELECT any(line) FROM file('SECRET', LineAsString))", "SELECT 1 WHERE 1 IN (SELECT 1 FROM file('SECRET', LineAsString))",
	"SELECT * FROM (SELECT * FROM view(SELECT * FROM file('SECRET', LineAsString)))", "SELECT * FROM loop(file('SECRET', LineAsString))",
	"SELECT * FROM numbers(1) JOIN file('SECRET', LineAsString) ON 1 = 1", "SELECT 1 UNION ALL SELECT count() FROM file('SECRET', LineAsString)",
	"EXPLAIN SELECT * FROM file('SECRET', LineAsString)", "DESCRIBE file('SECRET', LineAsString)", "DESCRIBE TABLE file('SECRET', LineAsString)",
	"EXPLAIN TABLE OVERRIDE file('SECRET')", "SELECT * FROM cluster('default', file('SECRET'))",

	// Comments, quotes and bytes that a lexer could misread.
	"SELECT 1 /* /* */ ' */ , file('SECRET') -- '", "SELECT 1 // '\n, file('SECRET') -- '", "SELECT 1 # '\n, file('SECRET') -- '",
	"SELECT ‘'’, file('SECRET') -- '", "SELECT “'”, file('SECRET') -- '", "SELECT 'a''', file('SECRET') -- '", "SELECT $a$'$a$, file('SECRET') -- '",
	"SELECT\u00a01, file('SECRET')", "SELECT 1,\u2003file('SECRET')", "SELECT 1\x00, file('SECRET')", "SELECT 1, \x01file('SECRET')",
	"SELECT '\\', file('SECRET') -- '",

	// Functions and settings that read files or connect to addresses.
	"SELECT file('SECRET')", "SELECT `file`('SECRET')", "SELECT arrayMap(x -> file(x), ['SECRET'])", "SELECT arrayMap(file, ['SECRET'])",
	"CREATE TABLE t1 (a String DEFAULT file('SECRET')) ENGINE = MergeTree ORDER BY a",
	"SELECT catboostEvaluate('SECRET', 1)",
	"SELECT * FROM format(Template, 'x') SETTINGS format_template_row = 'SECRET'",
	"SELECT 1 SETTINGS format_schema = 'SECRET:x'", "SET format_schema = 'SECRET:x'", "SET output_format_schema = 'FOLDER/x'",
	"SET format_avro_schema_registry_url = 'URL'", "SET dialect = 'prql'", "SELECT 1 SETTINGS dialect = 'kusto'",

	// Other table functions.
	"SELECT * FROM s3('URL/b/k')", "SELECT * FROM s3Cluster('c', 'URL/b/k')", "SELECT * FROM gcs('URL/b/k')", "SELECT * FROM oss('URL/b/k')",
	"SELECT * FROM hdfs('hdfs://127.0.0.1:1/x', CSV, 'a String')", "SELECT * FROM remote('127.0.0.1:1', system.one)",
	"SELECT * FROM remoteSecure('127.0.0.1:1', system.one)", "SELECT * FROM clusterAllReplicas('default', system.one)",
	"SELECT * FROM mysql('127.0.0.1:1', 'd', 't', 'u', 'p')", "SELECT * FROM postgresql('127.0.0.1:1', 'd', 't', 'u', 'p')",
	"SELECT * FROM sqlite('FOLDER/x.db', 't')", "SELECT * FROM mongodb('127.0.0.1:1', 'd', 'c', 'u', 'p', 'a String')",
	"SELECT * FROM redis('127.0.0.1:1', 'k', 'k String')", "SELECT * FROM odbc('DSN=x', 'd', 't')", "SELECT * FROM jdbc('jdbc:x', 'd', 't')",
	"SELECT * FROM executable('x.sh', TabSeparated, 'a String')", "SELECT * FROM azureBlobStorage('URL', 'c', 'p')",
	"SELECT * FROM iceberg('URL')", "SELECT * FROM icebergLocal('FOLDER')", "SELECT * FROM deltaLake('URL')", "SELECT * FROM deltaLakeLocal('FOLDER')",
	"SELECT * FROM hudi('URL')", "SELECT * FROM paimonLocal('FOLDER')", "SELECT * FROM fileCluster('c', 'SECRET')", "SELECT * FROM urlCluster('c', 'URL')",
	"SELECT * FROM ytsaurus('URL', '//a', 't', 'a String')", "SELECT * FROM arrowFlight('127.0.0.1:1', 'x')", "SELECT * FROM dictionary('d')",
	"SELECT * FROM merge('.*', '.*')", "SELECT * FROM input('a String')", "SELECT * FROM fuzzQuery('SELECT 1')",
	"INSERT INTO FUNCTION url('URL', CSV, 'a String') VALUES ('x')", "INSERT INTO TABLE FUNCTION remote('127.0.0.1:1', 'd', 't') VALUES (1)",
	"INSERT INTO t SELECT * FROM url('URL', LineAsString)", "CREATE TABLE t2 AS url('URL', LineAsString)", "CREATE TABLE t2 AS file('SECRET', LineAsString)",

	// Statements that use a file's path as a table's name.
	"SELECT * FROM `SECRET`", `SELECT * FROM "SECRET"`, "SELECT * FROM 'SECRET'", "SELECT * FROM default.`SECRET`", "DESCRIBE TABLE `SECRET`",
	"EXISTS TABLE `SECRET`", "INSERT INTO `FOLDER/x.csv` VALUES (1)", "SHOW CREATE TABLE `SECRET`", "CREATE TABLE t3 AS `SECRET`",

	// Statements that create tables, databases and other objects.
	"CREATE TABLE t4 (a String) ENGINE = File(LineAsString, 'SECRET')", "CREATE TABLE t4 (a String) ENGINE File(LineAsString)",
	"CREATE TABLE t4 (a String) ENGINE = `File`(LineAsString)", "CREATE TABLE t4 (a String) /* */ engine /* */ = /* */ URL('URL', CSV)",
	"CREATE TEMPORARY TABLE t4 (a String) ENGINE = URL('URL', CSV)", "CREATE OR REPLACE TABLE t4 (a String) ENGINE = S3('URL/b/k', CSV)",
	"CREATE TABLE t4 (a String) ENGINE = Distributed('default', 'd', 't')", "CREATE TABLE t4 (a String) ENGINE = MySQL('127.0.0.1:1', 'd', 't', 'u', 'p')",
	"CREATE TABLE t4 (a String) ENGINE = EmbeddedRocksDB(0, 'FOLDER/rocks') PRIMARY KEY a", "CREATE TABLE t4 (a String) ENGINE = Executable('x.sh', CSV)",
	"CREATE TABLE t4 (a String) ENGINE = Kafka('127.0.0.1:1', 't', 'g', 'CSV')", "CREATE TABLE t4 (a String) ENGINE = FileLog('FOLDER', 'CSV')",
	"CREATE TABLE t4 (a String) ENGINE = SQLite('FOLDER/x.db', 't')", "CREATE TABLE t4 (a String) ENGINE = KeeperMap('/x') PRIMARY KEY a",
	"CREATE TABLE t4 (a String) ENGINE = MergeTree ORDER BY a SETTINGS disk = disk(type = 'local', path = 'FOLDER/')",
	"CREATE TABLE t4 (a String) ENGINE = MergeTree ORDER BY a SETTINGS disk = disk(type = 'object_storage', object_storage_type = 'local', path = 'FOLDER/')",
	"CREATE TABLE t4 (a String) ENGINE = MergeTree ORDER BY a SETTINGS disk = disk(type = 'web', endpoint = 'URL')",
	"CREATE TABLE t4 (a String) ENGINE = MergeTree ORDER BY a SETTINGS disk = `disk` /* */ (type = 'web', endpoint = 'URL')",
	"ATTACH TABLE t5 FROM 'FOLDER/' (a String) ENGINE = MergeTree ORDER BY a",
	"CREATE DATABASE d1 ENGINE = Filesystem('FOLDER')", "CREATE DATABASE d1 ENGINE = SQLite('FOLDER/x.db')", "CREATE DATABASE d1 ENGINE = PostgreSQL('127.0.0.1:1', 'd', 'u', 'p')",
	"CREATE DATABASE d1 ENGINE = MySQL('127.0.0.1:1', 'd', 'u', 'p')", "CREATE DATABASE d1 ENGINE = S3", "CREATE DATABASE d1 ENGINE = Backup('d', File('FOLDER'))",
	"CREATE DATABASE d1 ENGINE = DataLakeCatalog('URL')", "CREATE DATABASE d1 ENGINE = Overlay('default', 'system')",
	"CREATE VIEW v1 AS SELECT * FROM file('SECRET', LineAsString, 'line String')",
	"CREATE MATERIALIZED VIEW v2 TO t AS SELECT line AS a FROM t JOIN (SELECT * FROM file('SECRET', LineAsString, 'line String')) ON 1 = 1",
	"CREATE MATERIALIZED VIEW v3 REFRESH EVERY 1 SECOND ENGINE = MergeTree ORDER BY line AS SELECT line FROM file('SECRET', LineAsString, 'line String')",
	"CREATE DICTIONARY d2 (a String) PRIMARY KEY a SOURCE(FILE(PATH 'SECRET' FORMAT 'CSV')) LAYOUT(FLAT()) LIFETIME(1)",
	"CREATE DICTIONARY d2 (a String) PRIMARY KEY a SOURCE(HTTP(URL 'URL' FORMAT 'CSV')) LAYOUT(FLAT()) LIFETIME(1)",
	"CREATE DICTIONARY d2 (a String) PRIMARY KEY a SOURCE(EXECUTABLE(COMMAND 'id' FORMAT 'CSV')) LAYOUT(FLAT()) LIFETIME(1)",
	"CREATE FUNCTION f1 AS (x) -> x", "CREATE NAMED COLLECTION n AS a = 1", "CREATE WORKLOAD w", "CREATE RESOURCE r (READ ANY DISK)",

	// Statements that read or write files.
	"SELECT 1 INTO OUTFILE 'FOLDER/out.txt'", "SELECT 1 into/**/outfile 'FOLDER/out.txt' FORMAT CSV", "SELECT 1 INTO OUTFILE 'FOLDER/out.txt' TRUNCATE FORMAT CSV",
	"INSERT INTO t FROM INFILE 'SECRET' FORMAT LineAsString", "INSERT INTO t FORMAT CSV 'x\n\nSELECT file(\\'SECRET\\')",
	"BACKUP TABLE t TO File('FOLDER/b')", "BACKUP TABLE t TO Disk('default', 'b')", "RESTORE TABLE t FROM File('FOLDER/b')", "IMPORT x", "COPY t TO 'FOLDER/x'",

	// Statements that change rights or roles.
	"SET ROLE rows", "SET ROLE wire, rows", "SET ROLE ALL", "SET /* */ ROLE DEFAULT", "SET DEFAULT ROLE rows TO default", "GRANT FILE ON *.* TO wire", "REVOKE wire FROM default",
	"CREATE USER u", "CREATE ROLE r", "ALTER USER default DEFAULT ROLE ALL", "DROP ROLE wire", "EXECUTE AS default SELECT 1", "CREATE ROW POLICY p ON t USING 1",
	"CREATE DATABASE d3 PARALLEL WITH SET ROLE rows", "SELECT 1; SET ROLE rows", "CREATE SETTINGS PROFILE p",

	// Statements that harm the engine.
	"SYSTEM SHUTDOWN", "SYSTEM KILL", "SYSTEM RELOAD CONFIG", "SYSTEM RELOAD USERS", "SYSTEM RESTORE REPLICA t", "SYSTEM DROP REPLICA 'x'", "SYSTEM UNFREEZE WITH NAME 'x'",
	"SYSTEM ENABLE FAILPOINT x", "SELECT addressToSymbol(1)", "SELECT demangle('x')",
}

// harmless has allowed statements that resemble hostile statements.
var harmless = []string{
	"SELECT 'file(''x'')', 'INTO OUTFILE', 'it''s SET ROLE rows' -- file('x')", "SELECT 1 /* file('x') /* nested */ */",
	"SELECT 1 AS `a b`, 2 AS \"c\\\"d\"", "SELECT 'ünïcödé', '‘’'", "SELECT count() FROM numbers(10)", "SELECT * FROM values('a String', 'file')",
	"SELECT engine FROM system.tables LIMIT 0", "SELECT * FROM view(SELECT 1)", "SELECT $a$ file('x') $a$", "SELECT 1 // file('x')\n",
	"CREATE TABLE harmless (role String, disk String) ENGINE = MergeTree ORDER BY role", "INSERT INTO harmless (role, disk) VALUES ('file(', 'b')",
	"ALTER TABLE harmless UPDATE disk = 'x' WHERE role = 'y' SETTINGS mutations_sync = 1", "SET max_threads = 2", "SELECT role, disk FROM harmless",
	"CREATE VIEW harmless_view AS SELECT role FROM harmless", "SYSTEM STOP MERGES harmless", "SYSTEM START MERGES harmless", "OPTIMIZE TABLE harmless FINAL",
	"DROP TABLE harmless",
}

// TestHostileStatements runs all hostile statements. Each statement must be refused, and must not write to the folder
// or connect to the address.
func TestHostileStatements(t *testing.T) {
	t.Parallel()
	db := fresh(t)
	must(t, db.Exec(t.Context(), "CREATE TABLE t (a String) ENGINE = MergeTree ORDER BY a"))
	folder := t.TempDir()
	secret := filepath.Join(folder, "secret.txt")
	must(t, os.WriteFile(secret, []byte("OCTAVO_TOKEN=oct_secret\n"), 0o600))
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	asked := make(chan struct{}, 1)
	go func() {
		for {
			socket, err := listener.Accept()
			if err != nil {
				return
			}
			_ = socket.Close()
			select {
			case asked <- struct{}{}:
			default:
			}
		}
	}()
	names := strings.NewReplacer("SECRET", secret, "FOLDER", folder, "URL", "http://"+listener.Addr().String())
	for _, text := range hostile {
		t.Run(text, func(t *testing.T) {
			// Do not replace the table engine URL, which is spelled like the placeholder.
			text := strings.ReplaceAll(names.Replace(strings.ReplaceAll(text, "URL(", "\x02(")), "\x02(", "URL(")
			got, err := read(t.Context(), db, text)
			if err == nil || strings.Contains(got+err.Error(), "oct_secret") {
				t.Errorf("%s\ngave %q, %v", text, got, err)
			}
		})
	}
	_ = listener.Close()
	select {
	case <-asked:
		t.Error("a statement has opened the address")
	default:
	}
	found, err := os.ReadDir(folder)
	must(t, err)
	if len(found) != 1 {
		t.Errorf("a statement has written in the folder: %v", found)
	}
	var tables uint64
	must(t, db.QueryRow(t.Context(), "SELECT count() FROM system.tables WHERE database = currentDatabase()").Scan(&tables))
	if tables != 1 {
		t.Errorf("there are %d tables, want 1", tables)
	}
	for _, text := range harmless {
		t.Run(text, func(t *testing.T) {
			if _, err := read(t.Context(), db, text); err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestGuardDeniesByItself checks, without an engine, which statements the guard denies.
func TestGuardDeniesByItself(t *testing.T) {
	t.Parallel()
	functions := []string{"file", "url", "remote", "s3", "numbers", "values", "executable"}
	g := newGuard(functions)
	for _, text := range []string{
		"SELECT * FROM file('x')", "SELECT file('x')", "SELECT arrayMap(file, ['x'])", "SELECT * FROM URL('x')", "select * from `s3`\n('x')",
		"SELECT 1 /* /* */ ' */ , file('SECRET') -- '", "SELECT 1 // '\n, file('SECRET') -- '", "SELECT ‘'’, file('SECRET') -- '",
		"SELECT 1 INTO OUTFILE 'x'", "SET ROLE rows", "SET\nDEFAULT ROLE x", "ATTACH TABLE t FROM 'x'", "nonsense",
		"CREATE TABLE t (a String) ENGINE = EmbeddedRocksDB(0, 'x')", "CREATE TABLE t (a String) ENGINE", "CREATE TABLE t (a String) ENGINE = {e:Identifier}",
	} {
		t.Run("denied "+text, func(t *testing.T) {
			t.Parallel()
			if err := g.check(text); err == nil || asException(err).code != codeAccessDenied {
				t.Errorf("got %v", err)
			}
		})
	}
	for _, text := range append(harmless, "", "SELECT numbers(1)", "INSERT INTO t VALUES (1)") {
		t.Run("allowed "+text, func(t *testing.T) {
			t.Parallel()
			if err := g.check(text); err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}

// read returns a statement's whole result as text.
func read(ctx context.Context, db driver.Conn, text string) (string, error) {
	rows, err := db.Query(ctx, text)
	if errors.Is(err, io.EOF) { // the statement succeeded and returns no columns
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = rows.Close() }()
	var b strings.Builder
	for rows.Next() {
		values := make([]any, len(rows.Columns()))
		for i, typ := range rows.ColumnTypes() {
			values[i] = reflect.New(typ.ScanType()).Interface()
		}
		if err := rows.Scan(values...); err != nil {
			return b.String(), err
		}
		for _, v := range values {
			fmt.Fprint(&b, reflect.ValueOf(v).Elem())
		}
	}
	return b.String(), rows.Err()
}
