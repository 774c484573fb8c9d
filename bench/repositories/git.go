package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// git runs git on a repository and returns its output.
func git(ctx context.Context, repository string, input io.Reader, arguments ...string) (string, error) {
	cmd := exec.CommandContext(
		ctx,
		"git",
		append([]string{"-C", repository, "-c", "core.quotePath=false"}, arguments...)...)
	var said bytes.Buffer
	cmd.Stdin, cmd.Stderr = input, &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", arguments[0], err, said.String())
	}
	return string(out), nil
}

// copied creates a bare repository with the last commit of another repository. If the other repository does not have
// the content of a file, the copied file has other content in its place.
func copied(ctx context.Context, source, bare string) error {
	if out, err := exec.CommandContext(ctx, "git", "init", "--quiet", "--bare", "--initial-branch=main",
		bare).CombinedOutput(); err != nil {
		return fmt.Errorf("git init: %w: %s", err, out)
	}
	if _, err := git(ctx, bare, nil, "config", "http.receivepack", "true"); err != nil {
		return err
	}
	tree, err := git(ctx, source, nil, "ls-tree", "-r", "-z", "HEAD")
	if err != nil {
		return err
	}
	var stream bytes.Buffer
	stream.WriteString("commit refs/heads/main\ncommitter b <b@example.com> 1700000000 +0000\ndata 1\nm\n")
	for _, entry := range strings.Split(strings.TrimSuffix(tree, "\x00"), "\x00") {
		about, path, _ := strings.Cut(entry, "\t")
		fields := strings.Fields(about)
		if len(fields) != 3 || strings.HasPrefix(path, `"`) || strings.Contains(path, "\n") {
			return fmt.Errorf("cannot copy the path %q", path)
		}
		if fields[1] == "commit" {
			fmt.Fprintf(&stream, "M 160000 %s %s\n", fields[2], path)
			continue
		}
		content, err := git(ctx, source, nil, "cat-file", "blob", fields[2])
		if err != nil {
			content = "a placeholder\n"
		}
		fmt.Fprintf(&stream, "M %s inline %s\ndata %d\n%s\n", fields[0], path, len(content), content)
	}
	_, err = git(ctx, bare, &stream, "fast-import", "--quiet")
	return err
}

// change is a file that differs between two commits. `removed` and `added` have the lines that differ. `hunks` is the
// number of places in the file with such lines.
type change struct {
	path           string
	status         byte
	hunks          int
	removed, added []string
}

// changes returns the files that differ between two commits, with their differing lines.
func changes(ctx context.Context, repository, from, to string) ([]change, error) {
	names, err := git(ctx, repository, nil, "diff", "--no-renames", "--name-status", "-z", from, to)
	if err != nil {
		return nil, err
	}
	var all []change
	fields := strings.Split(names, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		c := change{path: fields[i+1], status: fields[i][0]}
		text, err := git(ctx, repository, nil, "diff", "--no-renames", "-U0", from, to, "--", ":(literal)"+c.path)
		if err != nil {
			return nil, err
		}
		_, text, _ = strings.Cut(text, "\n@@")
		for _, line := range strings.Split("@@"+text, "\n") {
			switch {
			case strings.HasPrefix(line, "@@"):
				c.hunks++
			case strings.HasPrefix(line, "-"):
				c.removed = append(c.removed, line[1:])
			case strings.HasPrefix(line, "+"):
				c.added = append(c.added, line[1:])
			}
		}
		all = append(all, c)
	}
	return all, nil
}

// commit returns the id of the last commit of a branch.
func commit(ctx context.Context, repository, branch string) (string, error) {
	id, err := git(ctx, repository, nil, "rev-parse", "refs/heads/"+branch)
	return strings.TrimSpace(id), err
}
