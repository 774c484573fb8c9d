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
	indexNote  = regexp.MustCompile(`-- name: (\w+) :(\w+)\n-- Index: (\w+)`)
)

// ListQueries gives the index that is named beside every query that lists or counts, or that names one. A query that says
// why it has none is left out.
func ListQueries() map[string]string {
	indexes := map[string]string{}
	for _, text := range read(sources, "queries") {
		for query := range strings.SplitSeq(text, "-- name: ") {
			name, _, _ := strings.Cut(query, " ")
			if strings.Contains(query, "\n-- No index: ") {
				continue
			}
			if strings.HasPrefix(name, "List") || strings.HasPrefix(name, "Count") {
				indexes[name] = "no index is named beside it"
			}
		}
		for _, match := range indexNote.FindAllStringSubmatch(text, -1) {
			indexes[match[1]] = match[3]
		}
	}
	return indexes
}

// QueryText gives a query as it is sent.
func QueryText(name string) string {
	for _, text := range read(generated, "db") {
		for _, match := range namedQuery.FindAllStringSubmatch(text, -1) {
			if match[1] == name {
				return match[2]
			}
		}
	}
	return ""
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
