package frame

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"
)

// The declarations in this file give tests access to internals of the frame.

// BodyPieces are the sizes of the buffers for bodies.
var BodyPieces = bodyPieces

// LeastBodyShare is the memory that the bodies of one token may always take.
const LeastBodyShare = leastBodyShare

// DefaultBodyMemory is the value of Config.BodyMemory if the operator sets no value.
var DefaultBodyMemory = Config{}.withDefaults().BodyMemory

// Handler returns the function that serves every request.
func (s *Server) Handler() fasthttp.RequestHandler { return s.http.Handler }

// Stopping reports whether Drain or Stop was called.
func (s *Server) Stopping() bool { return s.stopping.Load() }

// Buffered returns the number of connections for which fasthttp has buffers.
func (s *Server) Buffered() int { return int(s.http.GetOpenConnectionsCount()) }

// Busy returns the number of connections that are not idle.
func (s *Server) Busy() (n int) {
	c := s.connections
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		if conn.idleSince.Load() == 0 {
			n++
		}
	}
	return n
}

// SetBodyMemory limits the memory for bodies to this many bytes. A body waits for memory only for a millisecond.
func (s *Server) SetBodyMemory(bytes int) BodyMemory {
	s.frame.bodies = newBodyMemory(bytes, time.Millisecond)
	return BodyMemory{s.frame.bodies}
}

// BodyMemory is the memory for bodies of a server.
type BodyMemory struct{ *bodyMemory }

// Fill takes memory for a body with this size, for a request with a token.
func (m BodyMemory) Fill(ctx context.Context, token string, size int) (release func(), err error) {
	b := &body{memory: m.bodyMemory, token: token}
	_, err = b.fill(ctx, strings.NewReader(strings.Repeat(" ", size)), size, nil)
	return b.release, err
}

// Taken returns the number of bytes of memory that bodies use.
func (m BodyMemory) Taken() int64 { return m.gate.Inside() }

// Holders returns the number of tokens whose bodies use memory.
func (m BodyMemory) Holders() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.holders)
}

// Panics returns the counter of an operation's panics.
func (m *PrometheusMetrics) Panics(operation string) prometheus.Counter {
	return m.panics.WithLabelValues(operation)
}

// Requests returns the counter of an operation's answers that have the given status.
func (m *PrometheusMetrics) Requests(operation, status string) prometheus.Counter {
	return m.requests.WithLabelValues(operation, status)
}

// Ended returns the counter of the connections that were ended for the given reason.
func (m *PrometheusMetrics) Ended(reason string) prometheus.Counter {
	return m.ended.WithLabelValues(reason)
}

// Unsent returns the gauge of the bytes of answers that clients have not read.
func (m *PrometheusMetrics) Unsent() prometheus.Gauge { return m.unsent }

// SharedUsers returns the number of calls and connections that use a shared answer.
func (s *Server) SharedUsers(name string) int {
	shared := &s.frame.shared
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if a := shared.held[name]; a != nil {
		return a.users
	}
	return 0
}
