package main

import (
	"io"
	"os"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/alecthomas/kong"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/cmd/engine/embedded"
	"github.com/octavo-docs/octavo/query"
)

// ExplainCmd is `octavo explain`.
type ExplainCmd struct {
	Settings `embed:""`
	Site     string       `arg:"" help:"The site's id."`
	Request  *os.File     `arg:"" optional:"" help:"File with the body of POST …/insights/events/aggregate, or of the report; standard input if absent."`
	Report   query.Report `enum:"${reports}" default:"aggregate" help:"Which of POST …/insights/events/… the request is for: ${enum}."`
}

// reportWords are the values of --report.
func reportWords() kong.Vars {
	var words []string
	for _, of := range query.Reports() {
		words = append(words, string(of))
	}
	return kong.Vars{"reports": strings.Join(words, ",")}
}

// Run runs the request with this node's limits. It uses the engine of a running node, or starts one for the command.
// The answer itself is not printed.
func (c *ExplainCmd) Run() (err error) {
	in := io.Reader(os.Stdin)
	if c.Request != nil {
		in = c.Request
		defer func() { err = firstError(err, c.Request.Close()) }()
	}
	body, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	ctx, stop := untilSignalled()
	defer stop()
	return withInsights(ctx, &c.Settings, embedded.Set{}, func(_ *backends, conn driver.Conn) error {
		service := query.New(c.queryConfig(), conn, query.NewMetrics(prometheus.NewRegistry()))
		x, err := service.Explain(ctx, c.Report, c.Site, body, time.Now())
		return firstError(err, x.Print(os.Stdout))
	})
}
