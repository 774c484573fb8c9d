package machine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
)

// Run describes the run of a benchmark: date, commit, command, duration and machine. Every saved result includes it.
type Run struct {
	Date    string  `json:"date"`
	Commit  string  `json:"commit"`
	Command string  `json:"command"`
	Took    string  `json:"took"`
	Machine Machine `json:"machine"`

	began time.Time
}

// Begin returns the description of a run that begins now. `command` is the path of the program's package, such as
// ./bench/chaos.
func Begin(ctx context.Context, command string) (Run, error) {
	m, err := This()
	now := time.Now()
	return Run{
		Date: now.UTC().Format(time.RFC3339), Commit: Commit(ctx), Machine: m, began: now,
		Command: strings.Join(append([]string{"go run", command}, os.Args[1:]...), " "),
	}, err
}

// Tell prints a line that begins with the time since the beginning of the run.
func (r *Run) Tell(format string, arguments ...any) {
	fmt.Printf("%7.1fs  %s\n", time.Since(r.began).Seconds(), fmt.Sprintf(format, arguments...))
}

// End records the duration of the run.
func (r *Run) End() { r.Took = time.Since(r.began).Round(time.Second).String() }

// Head returns the beginning of a result in Markdown.
func (r *Run) Head(title string) string {
	return fmt.Sprintf("# %s, %s\n\nCommit %s, `%s`, took %s.\n%s.\n",
		title, r.Date[:10], r.Commit, r.Command, r.Took, r.Machine.Text())
}

// Save writes a result's files into `dir`, or into bench/results if `dir` is "". `files` maps each file's extension to
// its content. A file's name consists of the date, the commit, `kind` and the extension. Save returns the path without
// the extension.
func (r *Run) Save(dir, kind string, files map[string][]byte) (string, error) {
	if dir == "" {
		root, err := enginetest.ModuleRoot()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(root, "bench", "results")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("cannot save the result: %w", err)
	}
	path := filepath.Join(dir, r.Date[:10]+"-"+r.Commit+kind)
	for ending, content := range files {
		if err := os.WriteFile(path+ending, content, 0o644); err != nil {
			return "", fmt.Errorf("cannot save the result: %w", err)
		}
	}
	fmt.Fprintln(os.Stderr, "saved as", path+".md")
	return path, nil
}
