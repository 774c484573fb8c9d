package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

type commands struct {
	Bench benchCmd `cmd:"" default:"withargs" help:"Measure, print the table and save it."`
	Bare  bareCmd  `cmd:"" hidden:"" help:"Serve as the ceiling of the intake: decode into a struct, answer 204."`
}

type benchCmd struct {
	Quick       bool     `help:"A smoke run of less than a minute, with meaningless figures."`
	Rows        []string `help:"Rows to measure. Default: all but content, pageviews and query." enum:"${rows}"`
	Data        string   `help:"Folder with the data of the row query, which an interrupted run continues. Default: bench/.data." type:"path"`
	Events      []int    `help:"Sizes of the row query, in events. Default: 1, 10 and 100 million."`
	Hot         int      `help:"Events of the hot site in the row query, all of the last day." default:"10000000"`
	Clients     int      `help:"Dashboards at once in the row query." default:"10"`
	Only        []string `help:"Parts of the row query; the data is always made. Default: all." enum:"build,hot,boards,warm,overhead,cold,clients,intake"`
	Rounds      int      `help:"Rounds of each comparison. 0: the default."`
	Connections int      `help:"Connections of the loads. 0: the default."`
	Rate        float64  `help:"First rate to try for freshness, in events per second." default:"50000"`
	Binary      string   `help:"Path of the octavo binary to measure. Default: build one from the module." type:"path"`
	URL         string   `help:"URL of a running server to measure instead of starting one. Rows that need its engines are skipped."`
	Token       string   `help:"Token of a user of the running server." env:"OCTAVO_TOKEN"`
	Out         string   `help:"Folder for the results. Default: bench/results; --quick saves nothing by default." type:"path"`
	Keep        bool     `help:"Keep the data directory and the servers' logs."`
}

func main() {
	var cli commands
	rows := "decode,disk,aggregate,resources,comments,fresh,price,intake,door,sink,catchup,content,pageviews,query"
	ctx := kong.Parse(&cli, kong.Name("bench"), kong.Vars{"rows": rows},
		kong.Description("Benchmarks of Octavo against its ceilings."))
	ctx.FatalIfErrorf(ctx.Run())
}

// scale is the size of a run.
type scale struct {
	rounds      int
	catchups    int           // number of rounds of the row catchup
	intake      time.Duration // duration of one side of one round of the intake rows
	warmup      time.Duration
	decode      time.Duration // duration of one side of one round of the decode row
	dataset     int           // number of events for the rows disk and aggregate
	asks        int           // number of aggregate requests per round
	calls       int           // number of calls of a resource operation per round
	comments    int           // number of comments in the measured discussion
	imports     []int         // numbers of pages of the spaces that are imported
	pdfPages    int           // number of pages of the space that is rendered as a PDF
	mergeSpace  int           // number of pages of the space that edits are merged into
	largeSpace  int           // number of pages of the space in which pages are read and searched
	viewedPages int           // number of pages of the site whose pages are viewed
	views       time.Duration // duration of the load of page views
	backlog     int           // number of events that the sink drains per round
	fresh       time.Duration
	price       time.Duration // duration of one load of the price rows
	priceRounds int
	settle      time.Duration // time for the engine's own merges
	crowd       time.Duration // duration of one load of several dashboards
	every       int           // the benchmark sends every n-th dashboard request; this is n
	colds       int           // number of requests that are sent with empty caches
	bodies      int           // megabytes of prepared requests per size
	connection  int
}

var (
	fullScale = scale{
		rounds: 5, catchups: 5, dataset: 500_000,
		intake: 2 * time.Second, warmup: 500 * time.Millisecond, decode: time.Second,
		asks: 8, calls: 100, comments: 100_000, backlog: 400_000, fresh: 15 * time.Second, settle: 10 * time.Second, crowd: time.Minute, every: 1, colds: 1000, bodies: 24, connection: 256,
		imports: []int{2_000, 20_000}, pdfPages: 300, mergeSpace: 10_000, largeSpace: 50_000, viewedPages: 1_000, views: 30 * time.Second,
		price: 20 * time.Second, priceRounds: 3,
	}
	quickScale = scale{
		rounds: 2, catchups: 1, dataset: 20_000,
		intake: 400 * time.Millisecond, warmup: 100 * time.Millisecond, decode: 100 * time.Millisecond,
		asks: 3, calls: 5, comments: 2_000, backlog: 250_000, fresh: 2 * time.Second, settle: 0, crowd: time.Second, every: 17, colds: 2, bodies: 2, connection: 32,
		imports: []int{200, 1000}, pdfPages: 20, mergeSpace: 500, largeSpace: 2_000, viewedPages: 100, views: time.Second,
		price: 2 * time.Second, priceRounds: 1,
	}
)

// Run measures the rows, prints the report and saves it.
func (c *benchCmd) Run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	r, err := newReport(ctx, c.Quick)
	if err != nil {
		return err
	}
	if len(c.Rows) > 0 {
		r.name = "-" + strings.Join(c.Rows, "-")
	}
	err = c.measure(ctx, r)
	r.End()
	fmt.Println(r.markdown())
	if len(r.Rows) == 0 || c.Out == "" && c.Quick {
		return err
	}
	// If a row failed, the other rows are saved too. The report names the failed row.
	_, saveErr := r.save(c.Out)
	return errors.Join(err, saveErr)
}

func (c *benchCmd) measure(ctx context.Context, r *report) (err error) {
	b := &bench{report: r, rate: c.Rate, scale: fullScale, query: c.queryOptions()}
	if c.Quick {
		b.scale = quickScale
	}
	if c.Rounds > 0 {
		b.rounds, b.catchups, b.priceRounds = c.Rounds, c.Rounds, c.Rounds
	}
	if c.Connections > 0 {
		b.connection = c.Connections
	}
	if b.rig, err = c.rig(ctx); err != nil {
		return err
	}
	defer func() {
		if stopErr := b.rig.stop(); err == nil {
			err = stopErr
		}
	}()
	return b.run(ctx, c.Rows)
}
