package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/bench/loadgen"
	"github.com/octavo-docs/octavo/bench/product"
	"github.com/octavo-docs/octavo/ingest/sink"
	"github.com/octavo-docs/octavo/schema/insights"
)

const (
	ceilingTable = "bench_ceiling"
	// insertRows is the number of rows of each insert when the ceiling is measured. The sink's inserts have the same
	// number of rows.
	insertRows = sink.DefaultBatchRows
)

// sinkRow compares a sink that drains the log with inserts of the same rows, which are prepared as native blocks. Each
// round posts a backlog while no sink runs, then starts a sink and watches the table grow. It measures the time between
// the arrivals of the first and the last batch in the table. So the time in which the sink joins its consumer group is
// not included.
func (b *bench) sinkRow(ctx context.Context) error {
	conn, err := b.store()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	// First drain the backlog that other rows of the benchmark left. Otherwise the first round would drain it too.
	if err := b.drain(ctx, func(ctx context.Context, _ client) error { return b.drained(ctx, true) }); err != nil {
		return err
	}
	if err := conn.Exec(ctx, "CREATE TABLE "+ceilingTable+" AS "+insights.Table); err != nil {
		return fmt.Errorf("cannot create a table for the ceiling: %w", err)
	}
	defer func() { _ = conn.Exec(context.WithoutCancel(ctx), "DROP TABLE "+ceilingTable) }()
	// Stop the merges of both tables. The events table is larger, so its merges would slow down the sink more than the
	// ceiling.
	for _, table := range []string{insights.Table, ceilingTable} {
		if err := conn.Exec(ctx, "SYSTEM STOP MERGES "+table); err != nil {
			return fmt.Errorf("cannot stop the engine's merges: %w", err)
		}
		defer func() { _ = conn.Exec(context.WithoutCancel(ctx), "SYSTEM START MERGES "+table) }()
	}
	log, err := b.log()
	if err != nil {
		return err
	}
	var messages []kafka.Message
	c, err := interleave(b.rounds,
		func() (rate float64, err error) {
			from, err := log.ends(ctx)
			if err != nil {
				return 0, err
			}
			posted, err := b.postBacklog(ctx)
			if err != nil {
				return 0, err
			}
			if messages, err = log.since(ctx, from); err != nil {
				return 0, err
			}
			err = b.drain(ctx, func(ctx context.Context, _ client) error {
				drain, err := b.watchDrain(ctx, conn, posted)
				if err != nil {
					return err
				}
				rate = drain.rate()
				return b.drained(ctx, true)
			})
			return rate, err
		},
		func() (float64, error) { return insertPrepared(ctx, conn, messages) })
	if err != nil {
		return err
	}
	b.report.compare("log → insights store", "the engine inserting the same prepared native blocks", "rows/s", c, &budget{AtLeast: 0.7},
		fmt.Sprintf("backlogs of at least %d events; both sides in batches of about %d rows, while the engine merges nothing", b.backlog, insertRows),
		fmt.Sprintf("all %d events that were acknowledged in this run are stored, each once", b.sent))
	return nil
}

// drain calls f while a sink runs, with a client of the sink's node. If the sink exits during the call, `drain` cancels
// f.
func (b *bench) drain(ctx context.Context, f func(context.Context, client) error) error {
	sink, at, err := b.rig.startSink(ctx)
	if err != nil {
		return err
	}
	watched, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		select {
		case <-sink.exited:
			stop(errors.New("the sink exited"))
		case <-watched.Done():
		}
	}()
	return errors.Join(f(watched, at), sink.stop())
}

// postBacklog posts events until the backlog is large enough, and returns their number.
func (b *bench) postBacklog(ctx context.Context) (posted int, err error) {
	bodies := b.loadBodies(100)
	load := loadgen.Load{
		Address: b.rig.Address, Requests: requests(bodies, b.rig.Address, b.rig.insights()+"/events", b.rig.Token),
		Connections: b.connection, Duration: 250 * time.Millisecond,
	}
	for posted < b.backlog {
		result, err := loadgen.Run(ctx, load)
		took := int(result.All[http.StatusNoContent]) * 100
		posted, b.sent = posted+took, b.sent+took
		// Result.Only would be too strict here, because on a busy machine, perhaps no response arrives in such a short
		// time.
		if err == nil && (result.Errors > 0 || uint64(took) != 100*answers(&result)) {
			err = fmt.Errorf("statuses %v, %d requests without a response: %w", result.All, result.Errors, errors.Join(result.LastError))
		}
		if err != nil {
			return posted, fmt.Errorf("cannot post a backlog: %w", err)
		}
	}
	return posted, nil
}

func answers(r *loadgen.Result) (n uint64) {
	for _, count := range r.All {
		n += count
	}
	return n
}

// span describes a drain: the times at which the first and the last batch were in the table.
type span struct {
	rows        int // number of rows that were stored after the first batch
	first, last time.Time
}

func (s span) rate() float64 { return float64(s.rows) / s.last.Sub(s.first).Seconds() }

// watchDrain counts the table's rows until all posted events are in the table.
func (b *bench) watchDrain(ctx context.Context, conn driver.Conn, posted int) (span, error) {
	count := func() (rows int, at time.Time, err error) {
		var n uint64
		err = conn.QueryRow(ctx, "SELECT count() FROM "+insights.Table).Scan(&n)
		return int(n), time.Now(), err
	}
	start, last, err := count()
	if err != nil {
		return span{}, fmt.Errorf("cannot count the rows: %w", err)
	}
	var first time.Time
	base, seen := 0, start
	for seen < start+posted {
		// The query also uses processor time of ClickHouse, so wait between two queries.
		time.Sleep(20 * time.Millisecond)
		rows, at, err := count()
		switch {
		case err != nil:
			return span{}, fmt.Errorf("cannot count the rows: %w", err)
		case rows != seen && first.IsZero():
			base, first = rows, at
			fallthrough
		case rows != seen:
			seen, last = rows, at
		case at.Sub(last) > stallLimit:
			return span{}, fmt.Errorf("the sink stored %d of %d events, and no more for %s", seen-start, posted, stallLimit)
		}
	}
	if !last.After(first) {
		return span{}, errors.New("the backlog was stored as one batch: a larger one is needed")
	}
	return span{seen - base, first, last}, nil
}

// insertPrepared inserts the messages' rows and returns the rows per second. It measures only the time of the inserts.
func insertPrepared(ctx context.Context, conn driver.Conn, messages []kafka.Message) (float64, error) {
	rows := insights.NewBatch()
	var took time.Duration
	total := 0
	flush := func() error {
		prepared, err := conn.PrepareBatch(ctx, "INSERT INTO "+ceilingTable+" ("+strings.Join(insights.InsertColumns(), ", ")+")")
		if err != nil {
			return err
		}
		for i, values := range rows.Values() {
			if err := prepared.Column(i).Append(values); err != nil {
				return errors.Join(err, prepared.Abort())
			}
		}
		began := time.Now()
		if err := prepared.Send(); err != nil {
			return err
		}
		took += time.Since(began)
		total += rows.Rows()
		rows.Reset()
		return nil
	}
	for _, m := range messages {
		message, err := insights.ParseMessage(m.Value)
		if err != nil {
			return 0, err
		}
		if err := rows.Add(message, insights.Position{Partition: uint16(m.Partition), Offset: uint64(m.Offset)}, nil); err != nil {
			return 0, err
		}
		if rows.Rows() >= insertRows {
			if err := flush(); err != nil {
				return 0, err
			}
		}
	}
	if rows.Rows() > 0 {
		if err := flush(); err != nil {
			return 0, err
		}
	}
	if total == 0 {
		return 0, errors.New("the log has no messages")
	}
	return float64(total) / took.Seconds(), conn.Exec(ctx, "TRUNCATE TABLE "+ceilingTable)
}

// eventLog reads the topic of the log. It does not join the sink's consumer group.
type eventLog struct {
	client *kafka.Client
	dialer *kafka.Dialer
	broker string
}

func (b *bench) log() (eventLog, error) {
	broker := b.rig.engines.KafkaBrokers[0]
	login, err := product.KafkaMechanism(b.rig.engines.KafkaLogin.User, b.rig.engines.KafkaLogin.Password)
	if err != nil {
		return eventLog{}, fmt.Errorf("cannot log in to the broker: %w", err)
	}
	client := &kafka.Client{Addr: kafka.TCP(broker), Transport: &kafka.Transport{SASL: login}}
	return eventLog{client, &kafka.Dialer{Timeout: 10 * time.Second, DualStack: true, SASLMechanism: login}, broker}, nil
}

// ends returns the offset after the last message of each partition.
func (l eventLog) ends(ctx context.Context) (map[int]int64, error) {
	meta, err := l.client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{benchTopic}})
	if err != nil || len(meta.Topics) != 1 {
		return nil, fmt.Errorf("cannot read the log's partitions: %w", errors.Join(err))
	}
	var ask []kafka.OffsetRequest
	for _, p := range meta.Topics[0].Partitions {
		ask = append(ask, kafka.LastOffsetOf(p.ID))
	}
	answer, err := l.client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{benchTopic: ask}})
	if err != nil {
		return nil, fmt.Errorf("cannot read the log's offsets: %w", err)
	}
	ends := map[int]int64{}
	for _, p := range answer.Topics[benchTopic] {
		ends[p.Partition] = p.LastOffset
	}
	return ends, nil
}

// since returns all messages at or after the given offset of each partition.
func (l eventLog) since(ctx context.Context, from map[int]int64) ([]kafka.Message, error) {
	to, err := l.ends(ctx)
	if err != nil {
		return nil, err
	}
	var list []kafka.Message
	for partition, end := range to {
		reader := kafka.NewReader(kafka.ReaderConfig{
			Brokers: []string{l.broker}, Dialer: l.dialer, Topic: benchTopic, Partition: partition, MaxBytes: 16 << 20, MaxWait: 100 * time.Millisecond,
		})
		err := reader.SetOffset(from[partition])
		for at := from[partition]; err == nil && at < end; {
			var m kafka.Message
			if m, err = reader.ReadMessage(ctx); err == nil {
				list, at = append(list, m), m.Offset+1
			}
		}
		if err = errors.Join(err, reader.Close()); err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("cannot read the log: %w", err)
		}
	}
	return list, nil
}
