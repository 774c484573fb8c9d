package main

import (
	_ "embed" // for the embedded exceptions.txt
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// tags matches syntax that no reader should see outside of code: tags of HTML, components and GitBook, comments,
// attributes and directives.
var tags = regexp.MustCompile(`</?[a-zA-Z][^<>\n]*>|<!--|\{%[^}]*%\}|\{/\*|\{\{#[^}\n]*\}\}|` +
	`\{:[^{}\n]*\}|\{ ?#[\w-]+[^{}\n]*\}`)

//go:embed exceptions.txt
var exceptionList string

// exception is a tag that a page shows to readers as the author intended.
type exception struct{ repository, path, tag, reason string }

func (e exception) key() string { return e.repository + " | " + e.path + " | " + e.tag }

// exceptionsOf reads a list of exceptions. Each line has a repository, the path of a page in the space, a tag and a
// reason, separated by bars. A tag may contain bars. Lines that begin with a number sign are comments.
func exceptionsOf(list string) ([]exception, error) {
	var all []exception
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(line, " | ")
		last := len(parts) - 1
		if last < 3 {
			return nil, fmt.Errorf("exceptions.txt: %q has no repository, page, tag and reason", line)
		}
		all = append(all, exception{parts[0], parts[1], strings.Join(parts[2:last], " | "), parts[last]})
	}
	return all, nil
}

// lookAt looks for tags in the visible text of a page.
func (r *round) lookAt(p page, document map[string]any) (found bool) {
	look := func(text string) bool {
		for _, tag := range tags.FindAllString(text, -1) {
			found = true
			r.see(exception{repository: title(r.source + "@" + r.folder), path: p.Path, tag: tag})
		}
		return true
	}
	look(p.Title)
	look(p.Description)
	visible(document, look)
	return found
}

// see marks the exception of a tag as used. If the tag has no exception, `see` records it as unexpected.
func (r *round) see(seen exception) {
	for _, e := range r.excepted {
		if e.key() == seen.key() {
			if r.met == nil {
				r.met = map[string]bool{}
			}
			r.met[e.key()] = true
			return
		}
	}
	r.say("a reader sees a tag: %s", seen.key())
	r.unexpected = append(r.unexpected, seen)
}

// checkTags returns an error for each tag that is not in the list of exceptions. It also returns an error for each
// exception of this repository whose tag was not found.
func (r *round) checkTags() error {
	var problems []error
	for _, e := range r.unexpected {
		problems = append(problems, fmt.Errorf("a reader sees a tag: %s", e.key()))
	}
	for _, e := range r.excepted {
		if e.repository == title(r.source+"@"+r.folder) && !r.met[e.key()] {
			problems = append(problems, fmt.Errorf("no reader sees the tag of an exception: %s", e.key()))
		}
	}
	return errors.Join(problems...)
}
