package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/octavo-docs/octavo/bench/loadgen"
)

const (
	doorHost = "docs.example.com"
	// doorNumber is a placeholder in each request. When the load sends a request, a number replaces the placeholder.
	// The id of a request contains the number of the round and this number.
	doorNumber = "000000000000"
	doorAgent  = "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) " +
		"Chrome/126.0.0.0 Safari/537.36"
)

// doorSide is a kind of request that doorRows compares. Each request has one event.
type doorSide struct {
	name     string
	numbered bool
	request  func(round int) []byte
}

// doorRows compares the operation for browsers with the operation for front ends and servers. It measures the second
// operation with and without an id in each request. Each request has one page view, without members that only one
// operation accepts.
func (b *bench) doorRows(ctx context.Context) error {
	path, err := b.rig.Door(ctx, b.rig.org, b.rig.site, doorHost)
	if err != nil {
		return err
	}
	const (
		page   = `"url":"https://` + doorHost + `/guides/start?utm_source=mail","referrer":"https://example.org/"`
		posted = `{"events":[{"type":"page_view","session":{"visitorId":"v1","sessionId":"s1",` +
			`"userAgent":"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 ` +
			`Safari/537.36"},"location":{` + page + `}}]}`
	)
	events := b.rig.insights() + "/events"
	run := time.Now().UnixNano()
	id := func(round int) string { return fmt.Sprintf("%d-%d-%s", run, round, doorNumber) }
	door := doorSide{"browsers' door", true, func(round int) []byte {
		body := `{"id":"` + id(round) + `","events":[{"type":"page_view",` + page + `}]}`
		return loadgen.Request(http.MethodPost, b.rig.Address, path, "", []byte(body), doorAgent)
	}}
	keyed := doorSide{"the same event to …/insights/events with an Idempotency-Key", true, func(round int) []byte {
		key := "Idempotency-Key: " + id(round)
		return loadgen.Request(http.MethodPost, b.rig.Address, events, b.rig.Token, []byte(posted), key)
	}}
	unkeyed := doorSide{"the same event to …/insights/events without a key", false, func(int) []byte {
		return loadgen.Request(http.MethodPost, b.rig.Address, events, b.rig.Token, []byte(posted))
	}}
	for _, row := range []struct {
		ceiling doorSide
		atLeast float64
	}{{keyed, 0.9}, {unkeyed, 0.8}} {
		var last loadgen.Result
		c, err := interleave(b.rounds, b.doorLoad(ctx, door, &last), b.doorLoad(ctx, row.ceiling, new(loadgen.Result)))
		if err != nil {
			return err
		}
		b.report.compare("browsers' door, 1 event per request", row.ceiling.name, "events/s", c,
			&budget{AtLeast: row.atLeast}, latencies("closed loop, last round", &last))
	}
	return nil
}

// doorLoad returns a function. The function sends a load of one kind of request, and returns the events per second.
func (b *bench) doorLoad(ctx context.Context, side doorSide, last *loadgen.Result) func() (float64, error) {
	return func() (float64, error) {
		b.doorRounds++
		load := loadgen.Load{
			Address: b.rig.Address, Requests: [][]byte{side.request(b.doorRounds)}, Connections: b.connection,
			Warmup: b.warmup, Duration: b.intake,
		}
		if side.numbered {
			load.Numbered = doorNumber
		}
		result, err := loadgen.Run(ctx, load)
		b.sent += int(result.All[http.StatusNoContent])
		if err == nil {
			err = result.Only(http.StatusNoContent)
		}
		*last = result
		return result.PerSecond(), err
	}
}
