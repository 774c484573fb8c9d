package insights

import "fmt"

const (
	// LiveTop is the largest number of pages, paths, sources and countries in a live response.
	LiveTop = 10
	// liveTitles bounds the pairs of a path and a title in a live response. A path has several titles if its title has
	// changed.
	liveTitles = 5 * LiveTop
)

// LiveQuery is the query for a part of a live response.
type LiveQuery struct {
	// Name is the name of the part's member in the response.
	Name string
	// Active is true if the query reads only the last minutes, for which a visitor is regarded as active.
	Active bool
	// Members has the JSON members of an aggregate request, except the range.
	Members string
}

// LiveQueries returns the queries for a live response. A live response counts every program that is not a person's
// browser as an agent.
func LiveQueries() []LiveQuery {
	const (
		perMinute = `"fill":true,"groupBy":[{"column":"datetime","interval":"minute"}],"select":[{"column":"datetime"},`
		ofPeople  = `"where":[{"column":"visitorBot","values":[""]}]`
		ofAgents  = `"where":[{"column":"visitorBot","operator":"notIn","values":[""]}]`
	)
	top := func(column string) string {
		return fmt.Sprintf(`"groupBy":[{"column":%[1]q}],"select":[{"column":%[1]q},{"column":"visitorsCount"},`+
			`{"column":"eventsCount"}],"limit":%[2]d,"order":{"by":{"column":"visitorsCount"},"direction":"desc"}`,
			column, LiveTop)
	}
	titles := fmt.Sprintf(`"groupBy":[{"column":"urlPath"},{"column":"pageTitle"}],"select":[{"column":"urlPath"},`+
		`{"column":"pageTitle"},{"column":"visitorsCount"}],"where":[{"column":"pageTitle","operator":"notIn",`+
		`"values":[null]}],"limit":%d,"order":{"by":{"column":"visitorsCount"},"direction":"desc"}`, liveTitles)
	return []LiveQuery{
		{"active", true, `"select":[{"column":"peopleCount"}],` + ofPeople},
		{"activeAgents", true, `"select":[{"column":"visitorsCount"}],` + ofAgents},
		{"events", false, perMinute + `{"column":"eventsCount"}]`},
		{"people", false, perMinute + `{"column":"peopleCount"}],` + ofPeople},
		{"agents", false, perMinute + `{"column":"visitorsCount"}],` + ofAgents},
		{"pages", false, top("page")},
		{"paths", false, top("urlPath")},
		{"titles", false, titles},
		{"sources", false, top("referrerDomain")},
		{"countries", false, top("visitorGeoCountry")},
	}
}
