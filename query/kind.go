package query

// Report is a kind of report.
type Report string

// These are the reports that clients request with a JSON body.
const (
	Aggregate   Report = "aggregate"
	Funnel      Report = "funnel"
	Retention   Report = "retention"
	Transitions Report = "transitions"
	Pages       Report = "pages"
)

// Reports lists the reports that clients request with a JSON body.
func Reports() []Report { return []Report{Aggregate, Funnel, Retention, Transitions, Pages} }

// ReportWords returns the names of the reports that clients request with a JSON body.
func ReportWords() (words []string) {
	for _, of := range Reports() {
		words = append(words, string(of))
	}
	return words
}

// kindSegments is the report that clients request without a JSON body: see [Service.VisitorSegments].
const kindSegments Report = "segments"

// kinds are the kinds of queries, for metrics: a closed set.
func kinds() []Report { return append(Reports(), kindSegments) }
