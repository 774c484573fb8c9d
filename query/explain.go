package query

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// Explanation shows how a request was answered.
type Explanation struct {
	// Plan describes the compiled request and the decisions about it, one line each.
	Plan       string
	Statements []ExplainedStatement
	// Headers are the answer's headers.
	Headers map[string]string
	Answer  []byte
	Took    time.Duration
}

// Explain answers a request and explains how. It returns the errors of Answer. If there is an error, the explanation
// has the steps before it.
func (s *Service) Explain(ctx context.Context, of Report, site string, body []byte, now time.Time) (Explanation, error) {
	q := s.query(of, Caller{Fresh: true}, site)
	var x Explanation
	q.ran = func(st ExplainedStatement) { x.Statements = append(x.Statements, st) }
	within, err := s.reach(ctx, q.who, site, now)
	if err != nil {
		return x, q.invalid(ctx, err)
	}
	r, err := compilers[of](within, body, now)
	if err != nil {
		return x, q.invalid(ctx, err)
	}
	x.Plan = r.String()
	x.Answer, x.Headers, err = q.reported(ctx, r, nil)
	x.Took = time.Since(q.start)
	return x, err
}

// NamedExplanation explains a query of a batch. Err is the query's own error.
type NamedExplanation struct {
	Name string
	Explanation
	Err error
}

// ExplainBatch answers the queries of a batch one by one and explains how. Its error is about the batch itself.
func (s *Service) ExplainBatch(
	ctx context.Context, site string, body []byte, now time.Time,
) ([]NamedExplanation, error) {
	list, err := readBatch(body)
	if err != nil {
		return nil, err
	}
	all := make([]NamedExplanation, len(list))
	for i, n := range list {
		all[i] = NamedExplanation{Name: n.name, Err: n.err}
		if n.err == nil {
			all[i].Explanation, all[i].Err = s.Explain(ctx, n.of, site, n.body, now)
		}
	}
	return all, nil
}

// Print writes the explanation for people. It returns the errors of w.
func (x Explanation) Print(w io.Writer) error {
	var b strings.Builder
	section := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	lines := func(text string) {
		for line := range strings.Lines(text) {
			b.WriteString("  " + strings.TrimRight(line, "\n") + "\n")
		}
	}
	section("PLAN")
	lines(x.Plan)
	for i, st := range x.Statements {
		section("\nSTATEMENT %d, of %s: %s, %d rows read, %d rows", i+1, st.Source, rounded(st.Took), st.RowsRead, st.Rows)
		lines(st.SQL)
		for _, p := range st.Params {
			value, _ := json.Marshal(p.Value) // texts, numbers and lists of them always marshal
			lines(fmt.Sprintf("%s %s = %s", p.Name, p.Type, shortened(string(value), 200)))
		}
		if st.Err != nil {
			lines(fmt.Sprintf("FAILED: %v", st.Err))
		}
	}
	if x.Headers != nil {
		section("\nANSWER: %s, %d bytes", rounded(x.Took), len(x.Answer))
		for _, name := range slices.Sorted(maps.Keys(x.Headers)) {
			lines(name + ": " + x.Headers[name])
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func rounded(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
