package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/bench/loadgen"
	"github.com/octavo-docs/octavo/bench/machine"
	"github.com/octavo-docs/octavo/schema/insights"
)

// priceEvents is the number of events of a request. At the smallest rate, the load then sends twenty requests a second.
const priceEvents = 50

// priceConnections is the number of connections of a load that has a rate. It is small, because the node closes a
// connection on which no request arrives for some time.
const priceConnections = 32

// prices has rates in events per second, with a budget for each rate. atMost is the processor time in microseconds that
// the insights store may use per event. The rate 0 means full speed.
var prices = []struct{ rate, atMost float64 }{{1_000, 100}, {8_000, 30}, {25_000, 20}, {0, 12}}

// priceRows measures the processor time that the insights store uses per event, for each rate. All roles run on one
// node, and no client sends queries. The measurement begins with the load. It ends when all events are stored and
// ClickHouse's merges have ended, so that it includes merges that ClickHouse starts later.
func (b *bench) priceRows(ctx context.Context) error {
	conn, err := b.store()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	bodies := b.loadBodies(priceEvents)
	for _, p := range prices {
		load := loadgen.Load{
			Address:     b.rig.Address,
			Requests:    requests(bodies, b.rig.Address, b.rig.insights()+"/events", b.rig.Token),
			Connections: min(b.connection, priceConnections), Rate: p.rate / priceEvents, Duration: b.price,
		}
		name := number(p.rate) + " events/s"
		if p.rate == 0 {
			// At full speed, the load must be short, because the node refuses events if the log has too many events
			// that are not stored yet.
			name, load.Duration, load.Connections = "full speed", b.price/5, b.connection
		}
		x := row{What: "processor time of the store per event, at " + name, Unit: "µs"}
		x.Budget = &budget{AtMost: p.atMost}
		var costs []float64
		for range b.priceRounds {
			paid, err := b.pay(ctx, conn, load)
			if err != nil {
				return fmt.Errorf("at %s: %w", name, err)
			}
			costs = append(costs, paid.cpu*1e6/paid.events)
			x.Notes = append(x.Notes, paid.text())
		}
		x.Ours = spreadOf(costs)
		b.report.add(x)
	}
	b.report.note("the time includes the engine's own idle work, and merges that end after the load")
	return nil
}

// payment has the measured cost of one load.
type payment struct {
	events, cpu float64 // number of stored events; processor time in seconds
	load, whole time.Duration
	did         map[string]uint64 // increase of each of ClickHouse's counters
	parts       int               // number of parts after the load, before the last merges
}

// priceCounters has ClickHouse's counters that explain the processor time.
var priceCounters = []string{
	"InsertQuery", "SelectQuery", "InsertedRows", "Merge", "MergedRows", "FileSync", "MergeExecuteMilliseconds",
	"MergeTreeDataWriterProjectionsCalculationMicroseconds", "MergeProjectionStageExecuteMilliseconds",
}

// pay sends a load, waits until its events are stored and their parts are merged, and returns the cost.
func (b *bench) pay(ctx context.Context, conn driver.Conn, load loadgen.Load) (payment, error) {
	engine := machine.Process(b.rig.engines.PIDs["clickhouse"])
	// First merge the parts of earlier loads, so that most rows of the measured merges are rows of this load.
	if err := conn.Exec(ctx, "OPTIMIZE TABLE "+insights.Table+" FINAL"); err != nil {
		return payment{}, fmt.Errorf("cannot merge the events table: %w", err)
	}
	before, err := counters(ctx, conn)
	if err != nil {
		return payment{}, err
	}
	began, cpu := time.Now(), engine.CPU()
	result, err := loadgen.Run(ctx, load)
	if err != nil {
		return payment{}, err
	}
	p := payment{load: time.Since(began), events: float64(result.All[http.StatusNoContent]) * priceEvents}
	b.sent += int(p.events)
	if only := result.Only(http.StatusNoContent); only != nil && load.Rate > 0 {
		return payment{}, only
	}
	if err := b.drained(ctx, result.Errors == 0); err != nil {
		return payment{}, err
	}
	if p.parts, err = countParts(ctx, conn); err != nil {
		return payment{}, err
	}
	if err := merged(ctx, conn); err != nil {
		return payment{}, err
	}
	p.cpu, p.whole = engine.CPU()-cpu, time.Since(began)
	after, err := counters(ctx, conn)
	p.did = map[string]uint64{}
	for name := range after {
		p.did[name] = after[name] - before[name]
	}
	return p, err
}

func (p payment) text() string {
	var did []string
	for _, name := range slices.Sorted(maps.Keys(p.did)) {
		did = append(did, fmt.Sprintf("%s %d", name, p.did[name]))
	}
	return fmt.Sprintf("%s events in %s, %s s of processor time in %s, %d parts at the load's end; %s",
		number(p.events), p.load.Round(time.Second), number(p.cpu), p.whole.Round(time.Second), p.parts,
		strings.Join(did, ", "))
}

func counters(ctx context.Context, conn driver.Conn) (map[string]uint64, error) {
	rows, err := conn.Query(ctx, "SELECT event, value FROM system.events WHERE event IN ('"+
		strings.Join(priceCounters, "', '")+"')")
	if err != nil {
		return nil, fmt.Errorf("cannot read the engine's counters: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err returns the same error
	list := map[string]uint64{}
	for rows.Next() {
		var name string
		var value uint64
		if err := rows.Scan(&name, &value); err != nil {
			return nil, err
		}
		list[name] = value
	}
	return list, rows.Err()
}
