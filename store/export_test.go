package store

import (
	"embed"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema/content/tree"
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

// ListQuery is a query that lists or counts rows, with facts from the comment above the query.
type ListQuery struct {
	// SQL is the text that is sent to the database.
	SQL string
	// Index is the index that the query's plan must use. It is empty if the comment names no index.
	Index string
	// Sorts is true if the query may sort, because it has only a few rows.
	Sorts bool
	// Optional is true if a call may leave out some of the query's filters or orders.
	Optional bool
}

// ListQueries returns every query that lists or counts rows, or whose comment names an index. It leaves out queries
// whose comment gives a reason why they need no index.
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

// QueryText returns the text of a query, as it is sent to the database.
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

// Trace lets a test observe the statements of a Store. Call it before the Store is started.
func Trace(s *Store, tracer pgx.QueryTracer) { s.db.Config.ConnConfig.Tracer = tracer }

// PagesAtOnce is the largest number of rows that a statement of an import writes.
const PagesAtOnce = pagesAtOnce

// KeptPages is the largest total number of pages in cached trees.
const KeptPages = keptPages

// SizeOfTree returns the size of a tree of n pages in the cache.
func SizeOfTree(n int) int {
	pages := make([]tree.Page, n)
	for i := range pages {
		pages[i].ID = strconv.Itoa(i)
	}
	return newKeptTree(pages).Size()
}
