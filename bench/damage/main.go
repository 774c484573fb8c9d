package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/octavo-docs/octavo/bench/machine"
	"github.com/octavo-docs/octavo/bench/product"
)

type command struct {
	Cases   string `default:"." help:"Regular expression of the cases to run: kind, way, moment."`
	List    bool   `help:"List the cases and run none."`
	Binary  string `type:"path" help:"Path of an octavo binary. Default: build one from the module."`
	Workers int    `default:"2" help:"Cases to run at a time."`
	Record  bool   `help:"Keep the result in bench/results."`
	Keep    bool   `help:"Keep the prepared data directories."`
}

func main() {
	var c command
	ctx := kong.Parse(&c, kong.Name("damage"),
		kong.Description("Damages the files of a node, and judges what it then answers."))
	ctx.FatalIfErrorf(ctx.Run())
}

// errSilent is the error of a run in which a case had the outcome `silent`.
var errSilent = errors.New("cases are silent")

// Run runs the cases and prints the table.
func (c *command) Run() (err error) {
	match, err := regexp.Compile(c.Cases)
	if err != nil {
		return fmt.Errorf("--cases: %w", err)
	}
	cases := allCases(match)
	if c.List {
		for _, one := range cases {
			fmt.Println(one)
		}
		fmt.Println(len(cases), "cases")
		return nil
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "octavo-damage-")
	if err != nil {
		return err
	}
	if c.Keep {
		fmt.Fprintln(os.Stderr, "the data directories are in", dir)
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	if c.Binary == "" {
		c.Binary = filepath.Join(dir, "octavo")
		if err := product.Build(ctx, c.Binary); err != nil {
			return err
		}
	}
	result := &result{}
	if result.Run, err = machine.Begin(ctx, "./bench/damage"); err != nil {
		return err
	}
	r, err := newRig(ctx, dir, c.Binary)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	var telling sync.Mutex
	result.rows, err = r.judgeAll(ctx, cases, c.Workers, func(row row) {
		telling.Lock()
		defer telling.Unlock()
		result.Tell("%-8s %s: %s", row.outcome, row.damageCase, row.verdict.text)
	})
	if err != nil {
		return err
	}
	result.End()
	fmt.Print("\n", result.text())
	if c.Record {
		if _, err := result.Save("", "-damage", map[string][]byte{".md": []byte(result.text())}); err != nil {
			return err
		}
	}
	if n := result.count(silent); n > 0 {
		return fmt.Errorf("%d %w", n, errSilent)
	}
	return nil
}

// result is the result of a run.
type result struct {
	machine.Run
	rows []row
}

type row struct {
	damageCase
	verdict
}

func (r *result) count(o outcome) (n int) {
	for _, row := range r.rows {
		if row.outcome == o {
			n++
		}
	}
	return n
}

// text returns the result as Markdown.
func (r *result) text() string {
	var b strings.Builder
	b.WriteString(r.Head("Damaged files"))
	fmt.Fprintf(&b, "\n%d cases: %d right, %d said, %d refused, %d silent. Each case is a copy of the data directory "+
		"of `octavo serve`\nwith events, pages, files and a cached repository, and one damaged file or folder.\n\n",
		len(r.rows), r.count(right), r.count(said), r.count(refused), r.count(silent))
	b.WriteString("| file | damage | moment | outcome | what was said |\n|---|---|---|---|---|\n")
	for _, row := range r.rows {
		outcome := string(row.outcome)
		if row.outcome == silent {
			outcome = "**silent**"
		}
		text := strings.NewReplacer("|", "/", "\n", " ", "`", "").Replace(row.verdict.text)
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %.240s |\n", row.name, row.way, row.when, outcome, text)
	}
	return b.String()
}
