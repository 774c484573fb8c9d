package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/ingest/eventgen"
)

// seedInsert is a change that adds a page. Other changes of the same request refer to the page by its `ref`.
type seedInsert struct {
	Operation string            `json:"operation"`
	Type      string            `json:"type"`
	Title     string            `json:"title"`
	Slug      string            `json:"slug"`
	Ref       string            `json:"ref,omitzero"`
	Into      string            `json:"into,omitzero"`
	Document  map[string]string `json:"document,omitzero"`
}

// seedPage is a page of a space, with the pages below it.
type seedPage struct {
	ID    string     `json:"id"`
	Path  string     `json:"path"`
	Pages []seedPage `json:"pages"`
}

// mostInserts is the maximum number of changes in a request. All changes of a topic are in one request, because the
// pages of the topic refer to its group by the `ref`.
const mostInserts = 50

// write adds the pages that visitors read to a space, with a change request. It returns the ids of the pages by their
// paths.
func (c *seedClient) write(ctx context.Context, space string, topics []eventgen.Topic) (map[string]string, error) {
	at := "/v1/spaces/" + url.PathEscape(space)
	request, err := c.create(ctx, at+"/change-requests", map[string]any{"subject": "Example pages"})
	if err != nil {
		return nil, err
	}
	changes := at + "/change-requests/" + url.PathEscape(request)
	var inserts []seedInsert
	for at, topic := range topics {
		inserts = append(inserts, seedInsert{
			Operation: "insert_page", Type: "group", Title: seedTitle(topic.Name), Slug: topic.Name, Ref: topic.Name,
		})
		for _, page := range topic.Pages {
			text := fmt.Sprintf("This page is about %s: %s.", seedTitle(topic.Name), seedTitle(page))
			inserts = append(inserts, seedInsert{
				Operation: "insert_page", Type: "document", Title: seedTitle(page), Slug: page, Into: topic.Name,
				Document: map[string]string{"markdown": text},
			})
		}
		if at+1 < len(topics) && len(inserts)+1+len(topics[at+1].Pages) <= mostInserts {
			continue
		}
		if _, err := c.call(ctx, changes+"/content", map[string]any{"changes": inserts}); err != nil {
			return nil, err
		}
		inserts = inserts[:0]
	}
	if _, err := c.call(ctx, changes+"/merge", map[string]any{}); err != nil {
		return nil, err
	}
	answer, err := c.send(ctx, http.MethodGet, at+"/content/pages", nil, http.StatusOK, "")
	if err != nil {
		return nil, err
	}
	var tree struct {
		Pages []seedPage `json:"pages"`
	}
	if err := json.Unmarshal(answer, &tree); err != nil {
		return nil, err
	}
	ids := map[string]string{}
	var walk func([]seedPage)
	walk = func(pages []seedPage) {
		for _, page := range pages {
			ids[strings.Trim(page.Path, "/")] = page.ID
			walk(page.Pages)
		}
	}
	walk(tree.Pages)
	return ids, nil
}

// seedTitle makes a title from a part of an address: "Getting started" from "getting-started".
func seedTitle(name string) string {
	return strings.ToUpper(name[:1]) + strings.ReplaceAll(name[1:], "-", " ")
}
