package query

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/packages"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// shardsFolder is set in the process that runs the engine with two shards.
const shardsFolder = "OCTAVO_QUERY_TEST_SHARDS"

// TestReportsOnShards checks that reports read from a distributed table have the same rows as from one table. Each
// session has events on both shards. The engine's server allows no distributed tables, so a process of its own loads
// the engine's library.
func TestReportsOnShards(t *testing.T) {
	if folder := os.Getenv(shardsFolder); folder != "" {
		compareShards(t, folder)
		return
	}
	t.Parallel()
	enginetest.ClickHouse(t) // skips the test if there are no engines
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	child.Env = append(os.Environ(), shardsFolder+"="+t.TempDir())
	out, err := child.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
}

// bare is the engine's library without a server.
type bare struct {
	conn            uintptr
	run             func(conn uintptr, sql, format string) uintptr
	length          func(result uintptr) uintptr
	buffer, failure func(result uintptr) unsafe.Pointer
	destroy         func(result uintptr)
}

// openBare starts the engine in this process. The shards are views of one table; each has the rows of one partition of
// the log.
func openBare(t *testing.T, folder string) *bare {
	t.Helper()
	const config = `<clickhouse><tcp_port>9000</tcp_port><remote_servers><two>
		<shard><replica><host>127.0.0.1</host><port>9000</port></replica></shard>
		<shard><replica><host>127.0.0.1</host><port>9000</port></replica></shard>
	</two></remote_servers></clickhouse>`
	file := filepath.Join(folder, "config.xml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := packages.Find(packages.Config{})
	if err != nil {
		t.Fatal(err)
	}
	path, _, err := found.ClickHouse()
	if err != nil {
		t.Fatal(err)
	}
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		t.Fatal(err)
	}
	b := &bare{}
	var connect func(argc int32, argv unsafe.Pointer) *uintptr
	purego.RegisterLibFunc(&connect, handle, "chdb_connect")
	purego.RegisterLibFunc(&b.run, handle, "chdb_query")
	purego.RegisterLibFunc(&b.length, handle, "chdb_result_length")
	purego.RegisterLibFunc(&b.buffer, handle, "chdb_result_buffer")
	purego.RegisterLibFunc(&b.failure, handle, "chdb_result_error")
	purego.RegisterLibFunc(&b.destroy, handle, "chdb_destroy_query_result")
	var end func(place *uintptr)
	purego.RegisterLibFunc(&end, handle, "chdb_close_conn")
	args := []string{"clickhouse", "--path=" + filepath.Join(folder, "data"), "--config-file=" + file}
	texts := make([]*byte, len(args))
	for i, arg := range args {
		texts[i] = unsafe.StringData(arg + "\x00")
	}
	place := connect(int32(len(args)), unsafe.Pointer(&texts[0]))
	runtime.KeepAlive(texts)
	if place == nil {
		t.Fatal("the engine did not start")
	}
	b.conn = *place
	// At the exit of a process with the race detector, the library's destructors run. If the engine did not end before,
	// its threads would still use objects that the destructors have destroyed.
	t.Cleanup(func() { end(place) })
	return b
}

// ask returns the rows of a statement, a line each.
func (b *bare) ask(sql string) (rows string, err error) {
	result := b.run(b.conn, sql, "TSV")
	defer b.destroy(result)
	if failure := b.failure(result); failure != nil {
		n := 0
		for *(*byte)(unsafe.Add(failure, n)) != 0 {
			n++
		}
		return "", fmt.Errorf("%.300s: %s", sql, unsafe.String((*byte)(failure), n))
	}
	return strings.Clone(unsafe.String((*byte)(b.buffer(result)), int(b.length(result)))), nil
}

func compareShards(t *testing.T, folder string) {
	b := openBare(t, folder)
	must := func(sql string) string {
		t.Helper()
		rows, err := b.ask(sql)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	must("CREATE DATABASE d")
	must("USE d")
	for _, statement := range insights.CreateStatements(insights.Topology{}) {
		must(statement)
	}
	must(`CREATE VIEW shard AS SELECT * FROM events WHERE log_partition = toUInt32(shardNum()) - 1`)
	must(`CREATE TABLE spread AS events ENGINE = Distributed(two, 'd', shard, log_partition)`)
	must(`INSERT INTO events (site, time, received, log_partition, log_offset, log_index, type, url, visitor, session,
		space, page) WITH intDiv(number, 6) AS s, sipHash64(number, 3) % 20 AS p
		SELECT '` + testSite + `', toDateTime64('2026-03-14 12:30:46', 3, 'UTC')
		+ toIntervalMillisecond(s % 500 * 170000 + intDiv(number % 6, 2) * 60000),
		toDateTime('2026-03-15 12:00:00', 'UTC'),
		number % 2, intDiv(number, 100), number % 100, 'page_view', 'https://docs.example.com/page-' || toString(p),
		sipHash64(s % 300, 7), sipHash64(s, 8), if(p % 3 = 0, '', 'space_' || toString(p % 4)), 'page_' || toString(p)
		FROM numbers(6000)`)
	if got := must("SELECT _shard_num, count() FROM spread GROUP BY 1 ORDER BY 1"); got != "1\t3000\n2\t3000\n" {
		t.Fatalf("rows of the shards:\n%s", got)
	}
	const where = `"where":[{"column":"entryPage","operator":"notIn","values":[{"page":"page_2","space":"space_2"}]}]`
	for _, c := range []struct {
		of   Report
		body string
	}{
		{Funnel, `{"range":"last24Hours",
			"steps":[{},{"where":[{"column":"url","operator":"contains","values":["7"]}]}]}`},
		{Funnel, `{"range":"last24Hours","by":"session","strictIncrease":false,"steps":[{},{},{}],` + where + `}`},
		{Retention, `{"range":"last24Hours","interval":"hour"}`},
		{Retention, `{"range":"last24Hours","interval":"hour",` + where + `}`},
		{Transitions, `{"range":"last24Hours","page":{"space":"space_1","page":"page_1"}}`},
		{Transitions, `{"range":"last24Hours","page":{"path":"/page-3"}}`},
		{Transitions, `{"range":"last24Hours","page":{"path":"/page-3"},` + where + `}`},
	} {
		r, err := compileReport(c.of, testSite, c.body)
		if err != nil {
			t.Fatal(err)
		}
		all := []lowered{r}
		if of, ok := r.(transitions); ok {
			of.everySession = true
			all = append(all, of)
		}
		for _, r := range all {
			st := r.lower()
			sql := literal(st)
			st = st.WithInnerSetting("group_by_two_level_threshold_bytes", 1)
			spread := strings.ReplaceAll(literal(st), "FROM events", "FROM spread")
			// The statements of funnels and retentions do not define the order of their rows.
			sorted := func(rows string) string {
				list := "splitByChar('\n', " + sqltree.Quote(rows) + ")"
				return must("SELECT arrayStringConcat(arraySort(" + list + "), '\n') FORMAT TSVRaw")
			}
			want := sorted(must(sql))
			got := sorted(must(spread + "\nSETTINGS distributed_product_mode = 'global'"))
			if strings.TrimSpace(want) == "" || got != want {
				t.Errorf("%s %s: the shards give\n%s\nwant\n%s", c.of, c.body, got, want)
			}
		}
	}
}

var parameter = regexp.MustCompile(`\{p(\d+):[^}]*\}`)

// literal writes a statement with its parameters as text.
func literal(st sqltree.Statement) string {
	return parameter.ReplaceAllStringFunc(st.SQL, func(text string) string {
		n, _ := strconv.Atoi(parameter.FindStringSubmatch(text)[1])
		p := st.Params[n]
		return "CAST(" + literalValue(p.Value) + ", " + sqltree.Quote(p.Type.String()) + ")"
	})
}

func literalValue(value any) string {
	var list []any
	open, end := "[", "]"
	switch v := value.(type) {
	case []any:
		list = v
	case sqltree.Tuple:
		list, open, end = v, "(", ")"
	default:
		return sqltree.Quote(fmt.Sprint(v))
	}
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = literalValue(v)
	}
	return open + strings.Join(texts, ", ") + end
}
