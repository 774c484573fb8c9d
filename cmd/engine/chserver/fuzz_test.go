package chserver

import (
	"bufio"
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/ClickHouse/ch-go/compress"
)

// FuzzPackets reads arbitrary bytes as a client's packets: greeting, queries and blocks, with and without frames. The
// server must not panic. Its memory must stay proportional to the received bytes.
func FuzzPackets(f *testing.F) {
	for _, data := range malformed() {
		f.Add(data)
	}
	packer := compress.NewWriter(compress.LevelZero, compress.LZ4)
	compressed, _ := bytes.CutSuffix(malformed()["bad frame"], badFrame)
	framed, err := appendFrames(compressed, packer, appendBlock(nil, &block{}, onWire))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(framed)
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		defer func() {
			runtime.ReadMemStats(&after)
			// The limit allows a few steps of reading ahead, and LZ4's best compression ratio.
			if took := after.TotalAlloc - before.TotalAlloc; took > uint64(8*readStep+300*len(data)) {
				t.Errorf("%d bytes took %d bytes of memory", len(data), took)
			}
		}()
		in := bufio.NewReader(bytes.NewReader(data))
		c := &conn{server: &Server{cfg: Config{MaxInsert: 1 << 20}}, in: wireReader{in}, plainIn: plainReader{in: in}, frames: frameReader{r: in}, blockShare: share{budget: &budget{limit: 1 << 20}}}
		g, err := readGreeting(c.in)
		if err != nil {
			return
		}
		_ = g.check(testUser, testPassword)
		if _, err := c.in.text(maxShortText); err != nil {
			return
		}
		for {
			code, err := c.in.uvarint()
			if err != nil || code != clientQuery {
				return
			}
			q, err := readQuery(c.in)
			if err != nil {
				return
			}
			_, _ = outline(q.text)
			c.compressed = q.compressed
			for {
				b, err := c.readData()
				if err != nil {
					return
				}
				if b == nil || len(b.columns) == 0 {
					break
				}
			}
		}
	})
}

// FuzzBlock reads arbitrary bytes as a block. If this succeeds, the block must be unchanged after it was written in the
// wire's framing and read again.
func FuzzBlock(f *testing.F) {
	b := &block{rows: 1, columns: []column{
		{"a", "Nullable(UInt16)", []byte{0, 10, 10}}, {"m", "Map(String, String)", []byte{1, 0, 0, 0, 0, 0, 0, 0, 1, 'k', 1, 'v'}},
		{"l", "LowCardinality(Nullable(String))", []byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}},
		{"t", "Tuple(`a b` String, e Enum8('x' = 1))", []byte{0, 1}},
	}}
	f.Add(appendBlock(nil, b, native))
	f.Add(appendBlock(nil, &block{columns: []column{{"a", "LowCardinality(String)", nil}}}, native))
	f.Fuzz(func(t *testing.T, data []byte) {
		src := &source{buf: data, limit: len(data)}
		b, err := readBlock(src, native)
		if err != nil {
			return
		}
		wire := appendBlock(nil, b, onWire)
		again, err := readBlock(&source{buf: wire, limit: len(wire)}, onWire)
		if err != nil {
			t.Fatalf("the block does not survive the wire: %v", err)
		}
		if !bytes.Equal(appendBlock(nil, again, native), appendBlock(nil, b, native)) {
			t.Fatal("the block changed on the wire")
		}
	})
}

// FuzzOutline parses arbitrary text as a statement. It checks that there is no panic, and that each part of an outline
// is a part of the text.
func FuzzOutline(f *testing.F) {
	for _, text := range []string{"SELECT 1; x", "INSERT INTO `a` (b, \"c\") SETTINGS x = 1 VALUES", "SET a = [1, 'x'], b = {}", "$x$ $x$ /* -- ' \\", "(SELECT 1) FORMAT x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		st, err := outline(text)
		if err == nil && !strings.HasPrefix(text, st.text) {
			t.Fatalf("the outline is not of its text: %q", st.text)
		}
		if err == nil && st.insert != nil && (!strings.Contains(text, st.insert.table) || !strings.Contains(text, st.insert.settings)) {
			t.Fatalf("the outline of an INSERT is not of its text: %+v", st.insert)
		}
		_, _ = unquoteDump(text)
		_, _ = parseType(text)
		_ = parseException(text)
		_ = parseVersion(text)
	})
}
