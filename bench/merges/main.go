// Command merges compares Octavo's merges of pages with git's merges. Each argument is a folder with a Git repository
// and its history.
//
// It merges pairs of versions. A pair has both sides' versions of a Markdown file that both sides of a merge commit
// changed. If a repository has too few such pairs, two successive commits of one file are also a pair. For this, the
// changes of the later commit must apply without the earlier commit.
//
// A word that a side added is lost if neither the result nor a conflict contains it. A line is double if the result has
// it more often than each side, and also more often than git's result if git has no conflict. Two similar lines, one
// from each side, are also double, unless each side edited a different line of base.
//
//	go run ./bench/merges --pairs 40 --verbose /work/mirrors/*
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/octavo-docs/octavo/schema"
)

type options struct {
	Repositories []string `arg:"" help:"Git repositories with their histories."`
	Pairs        int      `default:"10" help:"Pairs of each repository."`
	Verbose      bool     `help:"Print each pair that is not merged as git merges it."`
}

// columns are the names of a repository's counts. The columns `same`, `other` and `worse` count merges that git does
// without a conflict. Octavo's result has the same words (`same`), other words (`other`), or a conflict (`worse`). The
// columns `better` and `both` count merges with a conflict in git. Octavo's result has no conflict (`better`), or also
// a conflict (`both`).
var columns = []string{"merges", "commits", "same", "other", "worse", "better", "both", "lost", "double"}

func main() {
	var o options
	kong.Parse(&o)
	fmt.Printf("%-40s%8s\n", "repository", strings.Join(columns, "  "))
	sum := map[string]int{}
	var failed error
	for _, path := range o.Repositories {
		r := repository{options: o, path: filepath.Clean(path), count: map[string]int{}}
		if err := r.run(context.Background()); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", path, err))
		}
		report(strings.TrimSuffix(r.path, "/repo"), r.count)
		for column, n := range r.count {
			sum[column] += n
		}
	}
	report("all", sum)
	if failed != nil {
		fmt.Fprintln(os.Stderr, failed)
		os.Exit(1)
	}
}

func report(name string, count map[string]int) {
	fmt.Printf("%-40s", filepath.Base(name))
	for _, column := range columns {
		fmt.Printf("%*d  ", len(column), count[column])
	}
	fmt.Println()
}

// repository is a Git repository whose merges are compared, with the numbers of the columns.
type repository struct {
	options
	path  string
	count map[string]int
}

func (r *repository) run(ctx context.Context) error {
	for _, kind := range []struct {
		column, flag string
		parents      int
		pair         func(ctx context.Context, ids []string) error
	}{{"merges", "--merges", 2, r.merge}, {"commits", "--no-merges", 1, r.twoCommits}} {
		history, err := r.git(ctx, "log", kind.flag, "--format=%H %P", "HEAD")
		if err != nil {
			return err
		}
		for line := range strings.Lines(history) {
			ids := strings.Fields(line)
			if len(ids) != kind.parents+1 || r.count["merges"]+r.count["commits"] >= r.Pairs {
				continue
			}
			if err := kind.pair(ctx, ids); err != nil {
				return err
			}
		}
	}
	return nil
}

// merge compares a file that both sides of a merge commit changed.
func (r *repository) merge(ctx context.Context, ids []string) error {
	bases, err := r.git(ctx, "merge-base", "--all", ids[0]+"^1", ids[0]+"^2")
	base, _, _ := strings.Cut(bases, "\n")
	if err != nil || base == "" {
		return nil //nolint:nilerr // The merged branches have no common commit.
	}
	mine, theirs := r.changed(ctx, base, ids[1]), r.changed(ctx, base, ids[2])
	for _, path := range mine {
		v, ok := r.texts(ctx, path, base, ids[1], ids[2])
		if ok && slices.Contains(theirs, path) && v[1] != v[2] {
			r.count["merges"]++
			return r.compare(ctx, ids[0]+" "+path, v)
		}
	}
	return nil
}

// twoCommits compares the results of a merge of two commits. The two sides are a commit and the previous
// commit that changed the same file.
func (r *repository) twoCommits(ctx context.Context, ids []string) error {
	for _, path := range r.changed(ctx, ids[1], ids[0]) {
		before, err := r.git(ctx, "log", "-1", "--no-merges", "--format=%H", ids[1], "--", path)
		if err != nil {
			continue
		}
		v, ok := r.texts(ctx, path, strings.TrimSpace(before)+"^", ids[1], ids[0])
		if !ok {
			continue
		}
		applied, conflicts, err := mergeFile(ctx, [3]string{v[1], v[0], v[2]})
		if err == nil && !conflicts && applied != v[0] && applied != v[1] {
			r.count["commits"]++
			return r.compare(ctx, ids[0]+" "+path, [3]string{v[0], v[1], applied})
		}
	}
	return nil
}

func (r *repository) git(ctx context.Context, arguments ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", r.path}, arguments...)...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", arguments[0], err)
	}
	return string(out), nil
}

// changed lists the Markdown files that exist in both commits and differ.
func (r *repository) changed(ctx context.Context, from, to string) []string {
	names, err := r.git(
		ctx, "diff", "--no-renames", "--diff-filter=M", "--name-only", "-z", from, to, "--", "*.md")
	if err != nil {
		return nil // a snapshot of a repository may lack objects
	}
	return strings.Split(strings.TrimSuffix(names, "\x00"), "\x00")
}

// texts reads three versions of a file: `base`, `ours` and `theirs`. `ok` is false if a version is missing or unusable,
// or if a side did not change the file.
func (r *repository) texts(ctx context.Context, path string, commits ...string) (v [3]string, ok bool) {
	for i, commit := range commits {
		text, err := r.git(ctx, "cat-file", "blob", commit+":"+path)
		if err != nil || !utf8.ValidString(text) || len(text) > schema.MaxPage || text == "" {
			return v, false
		}
		v[i] = text
	}
	return v, v[0] != v[1] && v[0] != v[2]
}

// mergeFile merges three versions of a file with git merge-file. `conflicts` is true if the text contains conflicts.
func mergeFile(ctx context.Context, v [3]string) (text string, conflicts bool, err error) {
	dir, err := os.MkdirTemp("", "octavo-merges-")
	if err != nil {
		return "", false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for i, name := range []string{"base", "ours", "theirs"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(v[i]), 0o600); err != nil {
			return "", false, err
		}
	}
	cmd := exec.CommandContext(ctx, "git", "merge-file", "-p", "-q", "ours", "base", "theirs")
	cmd.Dir = dir
	out, err := cmd.Output()
	const most = 127 // a positive exit code up to this number is the number of conflicts
	if failed, ok := errors.AsType[*exec.ExitError](err); ok && failed.ExitCode() > 0 && failed.ExitCode() <= most {
		return string(out), true, nil
	}
	return string(out), false, err
}
