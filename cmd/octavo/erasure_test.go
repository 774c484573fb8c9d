package main

import (
	"bytes"
	"context"
	bin "encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/ingest/erasure"
	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/ingest/intake"
	"github.com/octavo-docs/octavo/ingest/sink"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
	"github.com/octavo-docs/octavo/store/storetest"
)

// erasure requests a visitor's erasure, or reads its state.
func (i *instance) erasure(method, visitor string, want int) (e schema.VisitorErasure) {
	i.t.Helper()
	status, body := i.request(method, i.insights()+"/visitors/"+visitor, i.token, nil)
	if status != want {
		i.t.Fatalf("%s: %d %s, want %d", method, status, body, want)
	}
	if err := json.Unmarshal(body, &e); err != nil {
		i.t.Fatal(err)
	}
	return e
}

func (i *instance) untilErased(visitor string) (e schema.VisitorErasure) {
	i.t.Helper()
	i.until("the end of an erasure", func() error {
		if e = i.erasure("GET", visitor, 200); e.State != schema.ErasureDone {
			return fmt.Errorf("%+v", e)
		}
		return nil
	})
	return e
}

// blocks calls `f` with the blocks of a file of the insights engine. A block of a compressed column consists of a
// checksum of 16 bytes, a method, the compressed size, the plain size, and the data.
func blocks(data []byte, f func(plain []byte)) {
	for len(data) > 25 {
		method, size, plain := data[16], bin.LittleEndian.Uint32(data[17:]), bin.LittleEndian.Uint32(data[21:])
		if size < 9 || uint64(size)+16 > uint64(len(data)) || plain > 64<<20 {
			return
		}
		packed := data[25 : 16+size]
		data = data[16+size:]
		if method == 0x91 { // packed has the number of codecs, their methods, and the last codec's block
			n := int(packed[0])
			packed = packed[1+n:]
			if len(packed) < 9 {
				continue
			}
			method, plain = packed[0], bin.LittleEndian.Uint32(packed[5:])
			packed = packed[9:]
		}
		switch method {
		case 0x02:
			f(packed)
		case 0x82:
			out := make([]byte, plain)
			if n, err := lz4.UncompressBlock(packed, out); err == nil {
				f(out[:n])
			}
		case 0x90:
			decoder, err := zstd.NewReader(nil)
			if err != nil {
				panic(err)
			}
			if out, err := decoder.DecodeAll(packed, nil); err == nil {
				f(out)
			}
			decoder.Close()
		}
	}
}

// scan searches all files of the insights engine for the bytes in `needles`, both raw and decompressed. It returns the
// files that have them, and the number of decompressed blocks.
func (i *instance) scan(needles map[string][]byte) (found map[string][]string, decompressed int) {
	i.t.Helper()
	found = map[string][]string{}
	err := filepath.WalkDir(filepath.Join(i.dir, "clickhouse"), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a merge has removed the file
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		look := func(plain []byte) {
			for name, needle := range needles {
				if bytes.Contains(plain, needle) {
					found[name] = append(found[name], path)
				}
			}
		}
		look(data)
		blocks(data, func(plain []byte) { decompressed++; look(plain) })
		return nil
	})
	if err != nil {
		i.t.Fatal(err)
	}
	return found, decompressed
}

// TestEraseVisitor erases a visitor while events of other visitors arrive. No byte of the visitor may be left in the
// insights engine's files, even after columns and projections are decompressed. A replayed dead letter or a repair must
// not restore the visitor. All other events and the visitor's later events must be stored.
func TestEraseVisitor(t *testing.T) {
	t.Parallel()
	i := newInstance(t)
	pg, conn := i.postgres(), i.clickHouse()
	if _, err := pg.Exec(t.Context(), "update sites set store_clear_ids = true where id = $1", i.site); err != nil {
		t.Fatal(err)
	}
	var key []byte
	if err := pg.QueryRow(t.Context(), "select value from secrets where name like '%insights%'").Scan(&key); err != nil {
		t.Fatal(err)
	}
	hash := bin.LittleEndian.AppendUint64(nil, intake.NewHasher([16]byte(key)).Visitor(i.site, "mallory/é 1"))
	needles := map[string][]byte{
		"visitor": []byte("mallory/é 1"), "session": []byte("mallorys-session"), "url": []byte("secret-of-mallory"), "claim": []byte("mallory-claim-value"), "hash": hash,
	}
	event := func(path, at string) string {
		return fmt.Sprintf(`{"type":"page_view","session":{"visitorId":"mallory/é 1","sessionId":"mallorys-session","visitorAuthClaims":{"who":"mallory-claim-value"}},"location":{"url":"https://docs.example.com/secret-of-mallory/%s"}%s}`, path, at)
	}
	if err := conn.Exec(t.Context(), "ALTER TABLE events ADD CONSTRAINT poison CHECK position(url, 'poison') = 0"); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-365 * 24 * time.Hour).UTC().Format(time.RFC3339)
	mallorys := 0
	for n := range 40 {
		if status, body := i.post(i.token, pageView(fmt.Sprint("v", n)), event(fmt.Sprint(n), ""), event("import", `,"timestamp":"`+old+`"`), pageView("w")); status != 204 {
			t.Fatalf("%d %s", status, body)
		}
		mallorys += 2
	}
	if status, body := i.post(i.token, event("poison", "")); status != 204 {
		t.Fatalf("%d %s", status, body)
	}
	i.wantCounts(160, 42)
	i.until("a dead letter", func() error {
		list, err := i.octavo("deadletter", "list", "--json")
		if err == nil && !strings.Contains(list, "constraint") {
			err = errors.New(list)
		}
		return err
	})
	if found, n := i.scan(needles); len(found) != len(needles) || n == 0 {
		t.Fatalf("the scan of %d blocks finds only %v: it would find nothing later either", n, found)
	}

	// This goroutine posts events of other visitors until the channel `ended` is closed.
	var flow sync.WaitGroup
	ended, others := make(chan struct{}), 0
	flow.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-ended:
				return
			case <-time.After(20 * time.Millisecond):
			}
			if status, _ := i.post(i.token, pageView(fmt.Sprint("f", n%30))); status == 204 {
				others++
			}
		}
	})
	const path = "mallory%2F%C3%A9%201"
	asked := i.erasure("DELETE", path, 202)
	if asked.State != schema.ErasurePending || asked.Visitor != "mallory/é 1" || asked.LogUntil == nil || asked.LogUntil.Sub(asked.AskedAt) != (7+8+90+8+7+8)*24*time.Hour {
		t.Errorf("%+v", asked)
	}
	unknown := i.erasure("DELETE", "nobody-at-all", 202)
	if unknown.State != asked.State || unknown.LogUntil == nil {
		t.Errorf("a visitor without events is told apart: %+v", unknown)
	}
	if status, _ := i.request("GET", i.insights()+"/visitors/other", i.token, nil); status != 404 {
		t.Errorf("an erasure that nobody asked for: %d", status)
	}
	done := i.untilErased(path)
	if !done.ErasedUntil.Equal(asked.ErasedUntil) || asked.ErasedUntil.IsZero() || done.DoneAt == nil {
		t.Errorf("%+v", done)
	}
	if e := i.untilErased("nobody-at-all"); e.DoneAt == nil {
		t.Errorf("%+v", e)
	}
	if found, _ := i.scan(needles); len(found) > 0 {
		t.Errorf("after the erasure there are still %v", found)
	}

	if err := conn.Exec(t.Context(), "ALTER TABLE events DROP CONSTRAINT poison"); err != nil {
		t.Fatal(err)
	}
	if output, err := i.octavo("deadletter", "replay", "--all"); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
	close(ended)
	flow.Wait()
	i.wantCounts(80+others, 41+min(30, others))
	repaired := func() {
		t.Helper()
		i.until("agreement of log and table", func() error {
			output, err := i.octavo("repair", "--yes", "--json")
			if err != nil {
				return err
			}
			var sum sink.Reconciled
			var list []sink.Reconciled
			if err := json.Unmarshal([]byte(output), &list); err != nil {
				return err
			}
			for _, p := range list {
				sum.Erased, sum.Restored, sum.Rows, sum.DeadLettered = sum.Erased+p.Erased, sum.Restored+p.Restored, sum.Rows+p.Rows, sum.DeadLettered+p.DeadLettered
			}
			if sum.Erased != int64(mallorys) || sum.Restored != 0 || sum.DeadLettered != 1 || sum.Rows != int64(80+others) {
				return fmt.Errorf("%+v", sum)
			}
			return nil
		})
	}
	repaired()
	i.kill()
	i.start()
	repaired()
	i.wantCounts(80+others, 41+min(30, others))
	if found, _ := i.scan(needles); len(found) > 0 {
		t.Errorf("after a repair there are %v", found)
	}

	if status, body := i.post(i.token, event("later", "")); status != 204 {
		t.Fatalf("%d %s", status, body)
	}
	i.wantCounts(81+others, 42+min(30, others))
}

// TestErasureEndsWithItsAnswer checks that events received before the erasure's answer are erased, even if they are
// still in the log. Events sent after the answer must stay.
func TestErasureEndsWithItsAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("runs only in the long form: CI runs make test-long")
	}
	t.Parallel()
	i := newAttached(t)
	send := func(path string) {
		t.Helper()
		event := strings.Replace(
			pageView("returns"),
			`"https://docs.example.com/`,
			`"https://docs.example.com/`+path+`/`,
			1,
		)
		if status, body := i.post(i.token, event); status != 204 {
			t.Fatalf("%d %s", status, body)
		}
	}
	for range 20 {
		send("before")
	}
	asked := i.erasure("DELETE", "returns", 202)
	if asked.ErasedUntil.IsZero() || asked.ErasedUntil.After(time.Now()) || asked.ErasedUntil.Before(asked.AskedAt) {
		t.Errorf("%+v, answered at %v", asked, time.Now())
	}
	send("after")
	if done := i.untilErased("returns"); !done.ErasedUntil.Equal(asked.ErasedUntil) {
		t.Errorf("%+v, asked %+v", done, asked)
	}
	i.wantCounts(1, 1)
}

// TestEraseEventKey checks that an erasure removes the events under a publishable key's first generation from all
// answers. Events under the second generation and events that the site itself sent must stay. A repair must not restore
// the erased events.
func TestEraseEventKey(t *testing.T) {
	t.Parallel()
	i := newAttached(t)
	type publishable struct{ ID, Key string }
	manage := func(path, body string, want int) (key publishable) {
		t.Helper()
		status, answer := i.request("POST", i.insights()+"/keys"+path, i.token, []byte(body))
		if status != want {
			t.Fatalf("%s: %d %s", path, status, answer)
		}
		if err := json.Unmarshal(answer, &key); err != nil {
			t.Fatal(err)
		}
		return key
	}
	send := func(key publishable, n int) {
		t.Helper()
		for range n {
			body := fmt.Sprintf(`{"id":%q,"events":[{"type":"page_view","url":"https://docs.example.com/"}]}`,
				schema.NewID())
			ctx, cancel := context.WithTimeout(t.Context(), eventually.Patience)
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, i.url+"/e/"+key.Key, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Origin", "https://docs.example.com")
			r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
			answer, err := testClient.Do(r)
			cancel()
			if err != nil || answer.StatusCode != http.StatusNoContent {
				t.Fatalf("%+v, %v", answer, err)
			}
			_ = answer.Body.Close()
		}
	}
	first := manage("", `{"name":"Pages","hosts":["docs.example.com"]}`, http.StatusCreated)
	send(first, 5)
	second := manage("/"+first.ID+"/rotate", `{"overlap":0}`, http.StatusOK)
	send(second, 3)
	if status, body := i.post(i.token, pageView("reader"), pageView("reader")); status != 204 {
		t.Fatalf("%d %s", status, body)
	}
	counts := func(want map[any]float64) {
		t.Helper()
		const ask = `{"range":"last24Hours","groupBy":[{"column":"eventKey"}],` +
			`"select":[{"column":"eventKey"},{"column":"eventsCount"}]}`
		i.until(fmt.Sprint("the counts ", want), func() error {
			columns, err := i.aggregate(ask)
			if err != nil {
				return err
			}
			got := map[any]float64{}
			for at, key := range columns["eventKey"] {
				n, _ := columns["eventsCount"][at].(float64)
				got[key] = n
			}
			if !maps.Equal(got, want) {
				return fmt.Errorf("%v", got)
			}
			return nil
		})
	}
	counts(map[any]float64{nil: 2, first.ID + ".1": 5, first.ID + ".2": 3})
	path := i.insights() + "/keys/" + first.ID + "/generations/1/events"
	erasure := func(method string, want int) (e schema.EventKeyErasure) {
		t.Helper()
		status, answer := i.request(method, path, i.token, nil)
		if err := json.Unmarshal(answer, &e); status != want || err != nil {
			t.Fatalf("%s: %d %s", method, status, answer)
		}
		return e
	}
	erasure("GET", http.StatusNotFound)
	asked := erasure("DELETE", http.StatusAccepted)
	if asked.EventKey != first.ID+".1" || asked.State != schema.ErasurePending || asked.LogUntil == nil {
		t.Errorf("%+v", asked)
	}
	i.until("the rows to leave", func() error {
		var n uint64
		const count = "SELECT count() FROM events WHERE event_key = $1"
		err := i.clickHouse().QueryRow(t.Context(), count, first.ID+".1").Scan(&n)
		if err == nil && n > 0 {
			err = fmt.Errorf("%d rows", n)
		}
		return err
	})
	left := map[any]float64{nil: 2, first.ID + ".2": 3}
	counts(left)
	i.until("agreement of log and table", func() error {
		output, err := i.octavo("repair", "--yes", "--json")
		if err != nil {
			return err
		}
		var list []sink.Reconciled
		if err := json.Unmarshal([]byte(output), &list); err != nil {
			return err
		}
		var erased, restored int64
		for _, p := range list {
			erased, restored = erased+p.Erased, restored+p.Restored
		}
		if erased != 5 || restored != 0 {
			return fmt.Errorf("%d erased, %d restored", erased, restored)
		}
		return nil
	})
	counts(left)
}

// TestEraseWithoutKafka checks that an erasure is refused and not stored if the log does not answer. The log's
// retention is then unknown.
func TestEraseWithoutKafka(t *testing.T) {
	t.Parallel()
	log := eventlog.NewTopic([]string{enginetest.Address(t)}, eventlog.Access{}, "test", time.Second, "events")
	t.Cleanup(log.Close)
	var noSites *sites.Store // calling its methods would panic
	_, err := visitorErasures{noSites, intake.NewHasher([16]byte{}), log}.Erase(t.Context(), "site", "visitor")
	if e := schema.AsError(err); e.Code != schema.CodeUnavailable || e.RetryAfter != comeBack {
		t.Errorf("%+v", e)
	}
}

// TestOneNodeErases checks that this node does not erase while another node erases. It must not finish or forget
// erasures either.
func TestOneNodeErases(t *testing.T) {
	t.Parallel()
	address := storetest.URL(t)
	st := storetest.Open(t, address)
	table, err := eventstore.New(eventstore.Config{Conn: ingesttest.Table(t, enginetest.ClickHouse(t))})
	if err != nil {
		t.Fatal(err)
	}
	job, err := erasure.NewJob(erasure.JobConfig{
		Ledger: st.Sites, Table: table, Honoured: func(context.Context, int64) (bool, error) { return true, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	// The first erasure waits for old parts, and the store has no old parts. The second erasure can be forgotten.
	if _, err := conn.Exec(t.Context(), `insert into erasures (site_id, visitor, erased_until, log_until,
		mutated_at, done_at) values
		('a', 1, now(), null, now(), null), ('a', 2, now(), now(), now(), now())`); err != nil {
		t.Fatal(err)
	}
	want := func(done, forgotten bool) {
		t.Helper()
		first, err := st.Sites.Erasure(t.Context(), "a", 1)
		if err != nil || done != (first.DoneAt != nil) {
			t.Errorf("%+v, %v", first, err)
		}
		if second, err := st.Sites.Erasure(t.Context(), "a", 2); forgotten != (err != nil) {
			t.Errorf("%+v, %v", second, err)
		}
	}
	other, err := st.TryLock(t.Context(), erasure.Lock)
	if err != nil {
		t.Fatal(err)
	}
	loop, err := erasure.NewLoop(erasure.LoopConfig{Job: job, Lock: locker(st), Busy: lockIsBusy})
	if err != nil {
		t.Fatal(err)
	}
	if err := loop.Once(t.Context(), true); !errors.Is(err, postgres.ErrLocked) {
		t.Errorf("beside another node: %v", err)
	}
	want(false, false)
	if err := other.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The session's end frees the lock after a short time.
	eventually.Succeeds(t, "the lock", func() error { return loop.Once(t.Context(), true) })
	want(true, true)
}

// TestRetention checks that events older than their site's retention are deleted. A repair must not restore these
// events.
func TestRetention(t *testing.T) {
	t.Parallel()
	i := newAttached(t)
	day := func(ago int) string {
		return strings.Replace(
			pageView(fmt.Sprint("d", ago)),
			`"type"`,
			`"timestamp":"`+time.Now().Add(-time.Duration(ago)*24*time.Hour).UTC().Format(time.RFC3339)+`","type"`,
			1,
		)
	}
	if status, body := i.post(i.token, day(0), day(5), day(29), day(40), day(400)); status != 204 {
		t.Fatalf("%d %s", status, body)
	}
	i.wantCounts(5, 5)
	for _, refused := range []string{"0", "3651", `"a"`, "1.5"} {
		status, answer := i.request("PATCH", i.insights()+"/settings", i.token, []byte(`{"retentionDays":`+refused+`}`))
		if status != 400 || !strings.Contains(string(answer), "retentionDays") {
			t.Errorf("%s: %d %s", refused, status, answer)
		}
	}
	for _, unbounded := range []string{`{}`, `{"retentionDays":null}`} {
		status, answer := i.request("PATCH", i.insights()+"/settings", i.token, []byte(unbounded))
		if status != 200 || !strings.HasPrefix(string(answer), `{"object":"insights-settings"`) ||
			strings.Contains(string(answer), "retentionDays") {
			t.Errorf("%s: %d %s", unbounded, status, answer)
		}
	}
	if status, answer := i.request("PATCH", i.insights()+"/settings", i.token, []byte(`{"retentionDays":30}`)); status != 200 || !strings.Contains(string(answer), `"retentionDays":30`) {
		t.Fatalf("%d %s", status, answer)
	}
	i.stop() // the node deletes old events when it starts, and then every hour
	i.start()
	i.wantCounts(3, 3)
	i.until("agreement of log and table", func() error {
		output, err := i.octavo("repair", "--yes")
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, output)
		}
		return err
	})
	i.wantCounts(3, 3)
	if status, answer := i.request("GET", i.insights()+"/settings", i.token, nil); status != 200 || !strings.Contains(string(answer), `"retentionDays":30`) {
		t.Errorf("%d %s", status, answer)
	}
}
