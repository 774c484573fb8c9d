package jobs

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api/remote/translation/translationtest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/storetest"
)

// BenchmarkTranslateSpace runs the first translation of a space. Each page has ten segments and about 200 words. The
// translator is in this process and answers immediately.
func BenchmarkTranslateSpace(b *testing.B) {
	for _, pages := range []int{500, 5_000, 50_000} {
		b.Run(fmt.Sprint(pages), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				bench := newBench(b)
				tenant := storetest.NewTenant(b, bench.st, "ours")
				bench.fill(tenant, pages, generatedPage)
				row := bench.translated(tenant)
				proxied, statements := countingProxy(b, bench.url)
				st := storetest.Open(b, proxied)
				args := schema.TranslateSpace{Organization: tenant.Organization.ID, Space: tenant.Space.ID, Translation: row.ID, Run: bench.runOf(row.ID).ID}
				runtime.GC()
				before, peak := heap()[0], watchHeap()
				b.StartTimer()
				if err := translateSpace(b.Context(), Deps{Store: st, Translator: translationtest.Loudly{}}, args); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				most := peak()
				run := bench.runOf(row.ID)
				b.ReportMetric(float64(run.Pages), "pages")
				b.ReportMetric(float64(run.Segments)/float64(pages), "segments/page")
				b.ReportMetric(float64(statements.Load())/float64(pages), "statements/page")
				b.ReportMetric(float64(most[0]-before)/1e6, "live-MB")
				b.ReportMetric(float64(most[1])/1e6, "heap-MB")
				b.StartTimer()
			}
		})
	}
}

// generatedPage returns a page with three headings, each with two paragraphs.
func generatedPage(i int) schema.Document {
	random := rand.New(rand.NewPCG(1, uint64(i))) // The same seed gives the same page every time.
	words := func(n int) schema.Node {
		list := make([]string, n)
		for at := range list {
			list[at] = fmt.Sprintf("%x", random.IntN(20_000)+4096)
		}
		return schema.Text(strings.Join(list, " "))
	}
	var blocks []schema.Node
	for range 3 {
		blocks = append(blocks, schema.Block("heading-2", words(3)), schema.Block("paragraph", words(40)), schema.Block("paragraph", words(22)))
	}
	return schema.NewDocument(blocks...)
}

// heap returns the number of live bytes after the last garbage collection, and the number of bytes of all objects.
func heap() [2]uint64 {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(samples)
	return [2]uint64{samples[0].Value.Uint64(), samples[1].Value.Uint64()}
}

// watchHeap measures the heap repeatedly until the returned function is called. For each of the two numbers that `heap`
// returns, the returned function returns the largest value.
func watchHeap() func() [2]uint64 {
	var most [2]uint64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			for i, now := range heap() {
				most[i] = max(most[i], now)
			}
			select {
			case <-stop:
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	}()
	return func() [2]uint64 {
		close(stop)
		<-done
		return most
	}
}

// countingProxy forwards connections to a database, and counts the SQL statements on them.
func countingProxy(t testing.TB, database string) (string, *atomic.Int64) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var statements atomic.Int64
	var open sync.WaitGroup
	to := u.Host
	open.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			open.Go(func() { passOn(client, to, &statements) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		open.Wait()
	})
	u.Host = listener.Addr().String()
	return u.String(), &statements
}

func passOn(client net.Conn, to string, statements *atomic.Int64) {
	server, err := net.Dial("tcp", to) // The connection ends when the client's connection ends.
	if err != nil {
		_ = client.Close()
		return
	}
	go func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	}()
	defer func() { _ = server.Close() }()
	from := bufio.NewReader(client)
	header := 4 // The first message of a client has no byte for its type.
	for {
		head, err := from.Peek(header)
		if err != nil {
			return
		}
		if header == 5 && (head[0] == 'Q' || head[0] == 'E') {
			statements.Add(1)
		}
		length := int64(binary.BigEndian.Uint32(head[header-4:]))
		if _, err := io.CopyN(server, from, length+int64(header)-4); err != nil {
			return
		}
		header = 5
	}
}
