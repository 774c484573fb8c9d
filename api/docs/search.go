package docs

import "github.com/go-json-experiment/json"

// searchFile is the name of the search's index.
const searchFile = "search.json"

// found is an entry of the index.
type found struct {
	// To is the link to the page and the anchor, relative to the folder of the pages.
	To    string `json:"to"`
	Title string `json:"title"`
	// Route is the method and path of an operation.
	Route string `json:"route,omitzero"`
	Doc   string `json:"doc"`
}

// searchIndex returns the index of the search as JSON: all pages and operations with their texts.
func (s *site) searchIndex() ([]byte, error) {
	var all []found
	for _, p := range s.all() {
		all = append(all, found{To: p.Name, Title: p.Title, Doc: p.Doc})
	}
	for _, o := range s.operations() {
		all = append(all, found{To: o.Page + "#" + o.ID, Title: o.ID, Route: o.Method + " " + o.Path, Doc: o.Doc})
	}
	return json.Marshal(all)
}
