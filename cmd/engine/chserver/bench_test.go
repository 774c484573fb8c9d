package chserver

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

func BenchmarkSelectOne(b *testing.B) {
	db := fresh(b)
	for b.Loop() {
		one[uint8](b, db, context.Background(), "SELECT 1")
	}
}

func BenchmarkSelectOneWithLimits(b *testing.B) {
	db := fresh(b)
	ctx := clickhouse.Context(context.Background(), clickhouse.WithSettings(clickhouse.Settings{"max_execution_time": 30, "max_result_rows": 1000}))
	for b.Loop() {
		one[uint8](b, db, ctx, "SELECT 1")
	}
}

func BenchmarkInsert200kRowsOf9Columns(b *testing.B) {
	for name, change := range compressions {
		b.Run(name, func(b *testing.B) {
			db := fresh(b, change)
			must(b, db.Exec(b.Context(), `CREATE TABLE t (id UInt64, at DateTime64(3, 'UTC'), site LowCardinality(String), visitor String, url String,
				country LowCardinality(String), width UInt16, ms Float64, tags Array(String)) ENGINE = MergeTree ORDER BY (site, at)`))
			const rows = 200_000
			id, at, site, visitor, url := make([]uint64, rows), make([]int64, rows), make([]string, rows), make([]string, rows), make([]string, rows)
			country, width, ms, tags := make([]string, rows), make([]uint16, rows), make([]float64, rows), make([][]string, rows)
			for i := range rows {
				id[i], at[i], site[i], visitor[i] = uint64(i), 1_700_000_000_000+int64(i)*100, fmt.Sprint("site", i%20), fmt.Sprint("visitor-", i%5000)
				url[i], country[i], width[i], ms[i] = fmt.Sprint("https://docs.example.org/page/", i%300), fmt.Sprint("C", i%100), uint16(i%2000), float64(i)/7
				tags[i] = []string{"a", "b"}
			}
			var sending time.Duration // time of sending, without the copying of columns in the client
			for b.Loop() {
				batch, err := db.PrepareBatch(b.Context(), "INSERT INTO t")
				must(b, err)
				for i, column := range []any{id, at, site, visitor, url, country, width, ms, tags} {
					must(b, batch.Column(i).Append(column))
				}
				started := time.Now()
				must(b, batch.Send())
				sending += time.Since(started)
			}
			b.ReportMetric(float64(sending.Milliseconds())/float64(b.N), "ms-send/op")
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

func BenchmarkRead600kNumbers(b *testing.B) {
	for name, change := range compressions {
		b.Run(name, func(b *testing.B) {
			db := fresh(b, change)
			for b.Loop() {
				readNumbers(b, db)
			}
		})
	}
}

func readNumbers(b *testing.B, db driver.Conn) {
	rows, err := db.Query(b.Context(), "SELECT number FROM numbers(600000)")
	must(b, err)
	var v, n uint64
	for rows.Next() {
		if err := rows.Scan(&v); err != nil { // not must(): a call of testing's Helper takes longer than the scan
			b.Fatal(err)
		}
		n++
	}
	must(b, rows.Close())
	if n != 600_000 {
		b.Fatalf("%d rows", n)
	}
}

// BenchmarkReframe measures the conversion of blocks from the engine's framing to the wire's framing, without an engine
// and a client.
func BenchmarkReframe(b *testing.B) {
	const rows = 65_536
	texts := []byte{}
	for i := range rows {
		texts = appendText(texts, fmt.Sprint("https://docs.example.org/page/", i))
	}
	data := appendBlock(nil, &block{rows: rows, columns: []column{{"n", "UInt64", make([]byte, rows*8)}, {"s", "String", texts}}}, native)
	b.SetBytes(int64(len(data)))
	var out []byte
	for b.Loop() {
		blk, err := readBlock(&source{buf: data, limit: len(data)}, native)
		must(b, err)
		out = appendBlock(out[:0], blk, onWire)
	}
}

// BenchmarkReceive measures reading an uncompressed block from a socket.
func BenchmarkReceive(b *testing.B) {
	const rows = 65_536
	texts := []byte{}
	for i := range rows {
		texts = appendText(texts, fmt.Sprint("https://docs.example.org/page/", i))
	}
	data := append([]byte{clientData, 0}, appendBlock(nil, &block{rows: rows, columns: []column{{"n", "UInt64", make([]byte, rows*8)}, {"s", "String", texts}}}, onWire)...)
	b.SetBytes(int64(len(data)))
	src := bytes.NewReader(nil)
	in := bufio.NewReaderSize(src, 64<<10)
	c := &conn{server: &Server{cfg: Config{MaxInsert: 1 << 30}}, in: wireReader{in}, plainIn: plainReader{in: in}, blockShare: share{budget: &budget{limit: 1 << 30}}}
	for b.Loop() {
		src.Reset(data)
		_, err := c.readData()
		must(b, err)
	}
}
