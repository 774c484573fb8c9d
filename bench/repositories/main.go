// Command repositories measures how many unwanted changes Octavo makes to other people's repositories. Each argument is
// a folder with a Git repository. The program uses the repository's last commit.
//
// First it imports the repository into a new space and exports the space without an edit. This export should make no
// commit. Then it edits a word in twenty pages as Markdown and in twenty pages as documents, and exports the edits. The
// export should change only the edited lines. Then it exports the space to a new branch. In this branch, all files of
// unedited pages should equal the imported files. The program also searches the texts of the pages for tags outside of
// code, because a reader would see such a tag as text. The run fails if it finds a tag that exceptions.txt does not
// list.
//
//	go run ./bench/repositories /work/mirrors/*
//	go run ./bench/repositories --folder docs --verbose /work/mirrors/handbook
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/octavo-docs/octavo/bench/gitserver"
	"github.com/octavo-docs/octavo/bench/single"
)

type options struct {
	Repositories []string      `arg:"" help:"Git repositories, each with @ and a folder if only that is imported."`
	Edits        int           `default:"20" help:"Pages to edit in each of the two ways."`
	Wait         time.Duration `default:"10m" help:"Bound on the time of an import or an export."`
	Binary       string        `help:"Path of an octavo binary. Default: build one."`
	Verbose      bool          `help:"Print each difference, each page with a tag and each note."`
}

func main() {
	var o options
	kong.Parse(&o)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := o.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (o options) run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "octavo-repositories-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	node, err := single.Start(ctx, o.Binary, dir, "OCTAVO_OUTBOUND_ALLOW=127.0.0.1", "OCTAVO_RATE_LIMIT=0")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.Stop()) }()
	root := filepath.Join(dir, "repositories")
	address, stop, err := gitserver.Start(ctx, root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	organization, err := node.Client.Create(ctx, "/v1/orgs", "Repositories")
	if err != nil {
		return err
	}
	fmt.Printf("%-40s %6s %6s %9s %14s %14s %18s %6s\n",
		"repository", "pages", "notes", "untouched", "Markdown", "document", "new branch = ≠ +", "tags")
	var sum result
	var failed []error
	excepted, err := exceptionsOf(exceptionList)
	if err != nil {
		return err
	}
	for i, source := range o.Repositories {
		r := round{options: o, client: node.Client, organization: organization, excepted: excepted}
		name := fmt.Sprintf("r%d", i)
		r.source, r.folder = cut(source)
		r.bare, r.address = filepath.Join(root, name), address+"/"+name
		err := r.run(ctx)
		if err == nil {
			err = r.checkTags()
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", source, err))
		}
		r.result.print(title(source))
		sum.add(r.result)
		if err := os.RemoveAll(r.bare); err != nil {
			return err
		}
	}
	sum.print("all")
	return errors.Join(failed...)
}
