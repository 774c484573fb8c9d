package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/alecthomas/kong"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/cmd/engine/embedded"
	"github.com/octavo-docs/octavo/query"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

// ExplainCmd is `octavo explain`.
type ExplainCmd struct {
	Settings `embed:""`
	Site     string       `arg:"" optional:"" help:"The site's id. Default: OCTAVO_SITE."`
	Request  string       `arg:"" optional:"" help:"File with the body of POST …/insights/events/aggregate, or of the report; standard input if absent."`
	Known    string       `name:"site" env:"OCTAVO_SITE" help:"The site's id, if the arguments name none."`
	Report   query.Report `enum:"${reports}" default:"aggregate" help:"Report that the request is for: ${enum}."`
}

// explainBatch is the value of --report for a batch of queries.
const explainBatch query.Report = "batch"

// reportWords are the values of --report.
func reportWords() kong.Vars {
	return kong.Vars{"reports": strings.Join(append(query.ReportWords(), string(explainBatch)), ",")}
}

// arguments returns the site and the request's file. If the request comes from standard input, the file is "". A single
// argument is the request's file if such a file exists and OCTAVO_SITE names the site.
func (c *ExplainCmd) arguments() (site, file string, err error) {
	site, file = c.Site, c.Request
	if info, err := os.Stat(site); file == "" && c.Known != "" && err == nil && !info.IsDir() {
		site, file = "", site
	}
	if site = cmp.Or(site, c.Known); site == "" {
		return "", "", errors.New("name the site, or set OCTAVO_SITE")
	}
	return site, file, nil
}

// Run runs the request with the limits of the settings, and prints how it was answered. It uses the engine of a running
// node, or starts an engine for the command. The answer itself is not printed.
func (c *ExplainCmd) Run() error {
	site, file, err := c.arguments()
	if err != nil {
		return err
	}
	body, err := readInput(file)
	if err != nil {
		return err
	}
	ctx, stop := untilSignalled()
	defer stop()
	return withInsights(ctx, &c.Settings, embedded.Set{Postgres: true}, func(b *backends, conn driver.Conn) error {
		st, err := openStore(ctx, postgres.Config{URL: b.postgresURL}, store.Config{})
		if err != nil {
			return err
		}
		defer st.Stop()
		// Without this check, the answer for a site that does not exist would be the answer for a site without events.
		if _, err := st.Sites.ByID(ctx, site); err != nil {
			return fmt.Errorf("site %s: %w", site, err)
		}
		z, err := c.sizes(os.DirFS("/"))
		if z == nil {
			return err
		}
		queries := c.queryConfig(z)
		queries.Site = newQueriedSites(st, c.publicURL(), slog.Default()).of
		queries.Segment, queries.Pages = segmentOf(st), st.SitePages
		service := query.New(queries, conn, query.NewMetrics(prometheus.NewRegistry()))
		if c.Report == explainBatch {
			return printBatch(service.ExplainBatch(ctx, site, body, time.Now()))
		}
		x, err := service.Explain(ctx, c.Report, site, body, time.Now())
		if x.Plan == "" {
			return err
		}
		return firstError(err, x.Print(os.Stdout))
	})
}

// printBatch prints the explanations of a batch's queries, and the errors of queries.
func printBatch(list []query.NamedExplanation, err error) error {
	for i, x := range list {
		if i > 0 {
			fmt.Println()
		}
		fmt.Printf("QUERY %q\n\n", x.Name)
		if x.Plan != "" {
			err = firstError(err, x.Print(os.Stdout))
		}
		if x.Err != nil {
			fmt.Printf("ERROR: %v\n", x.Err)
		}
	}
	return err
}

// readInput reads a file, or standard input for "".
func readInput(file string) ([]byte, error) {
	if file == "" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(file)
}
