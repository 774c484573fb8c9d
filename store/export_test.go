package store

import (
	"embed"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed db/*.sql.go
var generated embed.FS

//go:embed queries/*.sql
var sources embed.FS

var (
	namedQuery = regexp.MustCompile("(?s)-- name: (\\w+) :\\w+\n(.*?)\n`")
	indexNote  = regexp.MustCompile(`(?m)^-- Index: (\w+)`)
	sortNote   = regexp.MustCompile(`(?m)^-- Sorts: `)
	optional   = regexp.MustCompile(`\$\d+::[a-z \[\]]+ is null|_like\(|_seen\(|case when \$\d+`)
)

// ListQuery is a query that lists or counts, with what is said beside it.
type ListQuery struct {
	// SQL is the query as it is sent.
	SQL string
	// Index is the index that must be used; empty when none is named.
	Index string
	// Sorts says that a sort is meant, of few rows.
	Sorts bool
	// Optional says that it has filters or orders that a call may leave out.
	Optional bool
}

// ListQueries gives every query that lists or counts, or that names an index. A query that says why it has no index is left
// out.
func ListQueries() map[string]ListQuery {
	queries := map[string]ListQuery{}
	texts := queryTexts()
	for _, text := range read(sources, "queries") {
		for _, query := range strings.Split(text, "-- name: ")[1:] {
			name, _, _ := strings.Cut(query, " ")
			note := indexNote.FindStringSubmatch(query)
			lists := strings.HasPrefix(name, "List") || strings.HasPrefix(name, "Count")
			if strings.Contains(query, "\n-- No index: ") || note == nil && !lists {
				continue
			}
			q := ListQuery{SQL: texts[name], Sorts: sortNote.MatchString(query), Optional: optional.MatchString(texts[name])}
			if note != nil {
				q.Index = note[1]
			}
			queries[name] = q
		}
	}
	return queries
}

// QueryText gives a query as it is sent.
func QueryText(name string) string { return queryTexts()[name] }

func queryTexts() map[string]string {
	texts := map[string]string{}
	for _, text := range read(generated, "db") {
		for _, match := range namedQuery.FindAllStringSubmatch(text, -1) {
			texts[match[1]] = match[2]
		}
	}
	return texts
}

func read(files embed.FS, dir string) []string {
	entries, err := files.ReadDir(dir)
	if err != nil {
		panic(err)
	}
	var texts []string
	for _, entry := range entries {
		text, err := files.ReadFile(dir + "/" + entry.Name())
		if err != nil {
			panic(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}

// Trace lets a test listen to the statements of a Store that is not started yet.
func Trace(s *Store, tracer pgx.QueryTracer) { s.config.ConnConfig.Tracer = tracer }

// Room is what an order gives n things that come before the one at an index.
func Room(order []int64, at, n int) (positions []int64, fits bool) {
	s := make(siblings, len(order))
	for i := range order {
		s[i].position = order[i]
	}
	return s.room(at, n)
}
