package schema

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// These are the states of a specification's newest source.
const (
	SpecPending  = "pending"
	SpecProgress = "progress"
	SpecComplete = "complete"
)

// SpecPrivate lets only the organization read the newest version of a specification. SpecPublic lets everybody read it,
// at the specification's published address.
const (
	SpecPrivate = "private"
	SpecPublic  = "public"
)

// OpenAPISpec is an OpenAPI specification of an organization. The content of a specification is in its versions.
type OpenAPISpec struct {
	Object          string                 `json:"object"`
	ID              string                 `json:"id"`
	CreatedAt       time.Time              `json:"createdAt"`
	UpdatedAt       time.Time              `json:"updatedAt"`
	Slug            string                 `json:"slug"`
	SourceURL       string                 `json:"sourceURL,omitempty"`
	ProcessingState string                 `json:"processingState" rules:"enum=specState"`
	Visibility      string                 `json:"visibility" rules:"enum=specVisibility"`
	LastVersion     string                 `json:"lastVersion,omitempty"`
	LastProcessedAt *time.Time             `json:"lastProcessedAt,omitempty"`
	LastErrorCode   string                 `json:"lastProcessErrorCode,omitempty" rules:"enum=specErrorCode"`
	LastErrors      []OpenAPISpecError     `json:"lastProcessedErrors,omitempty"`
	URLs            OpenAPISpecURLs        `json:"urls"`
	Permissions     OpenAPISpecPermissions `json:"permissions"`
}

// These are the codes of errors of a source (facts §6.2).
const (
	SpecFetchTimeout = "FETCH_TIMEOUT"
	SpecFetchError   = "FETCH_ERROR"
	SpecParseError   = "PARSE_ERROR"
)

// OpenAPISpecError is the problem that the source had when it was last processed. The last valid version of the
// specification stays in use.
type OpenAPISpecError struct {
	Message string `json:"message"`
	Code    string `json:"code,omitempty"`
}

// OpenAPISourceState has the HTTP validators that a document had when it was last fetched from its URL. The next fetch
// sends them, so the server can answer that the document has not changed.
type OpenAPISourceState struct {
	URL          string `json:"url"`
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"lastModified,omitempty"`
}

// OpenAPISpecURLs are the addresses of a specification.
type OpenAPISpecURLs struct {
	Location string `json:"location"`
	App      string `json:"app"`
	// Published is the public address of the newest version. It is absent while the specification is private.
	Published string `json:"published,omitempty"`
}

// OpenAPISpecPermissions says which rights the caller has on a specification.
type OpenAPISpecPermissions struct {
	View bool `json:"view"`
	Edit bool `json:"edit"`
}

// Location returns the Location header of the response that creates the specification.
func (s OpenAPISpec) Location() string { return s.URLs.Location }

// OpenAPISpecVersion is one version of a specification. It never changes.
type OpenAPISpecVersion struct {
	Object    string                 `json:"object"`
	ID        string                 `json:"id"`
	CreatedAt time.Time              `json:"createdAt"`
	URL       string                 `json:"url"`
	URLs      OpenAPISpecVersionURLs `json:"urls"`
}

// OpenAPISpecVersionURLs are the addresses of a version.
type OpenAPISpecVersionURLs struct {
	Location string `json:"location"`
}

// OpenAPISpecContent is the content of a version. Filesystem has the files of the specification. There is only one
// file, because a specification is sent as one document. URL is an older name of urls.source.
type OpenAPISpecContent struct {
	Filesystem OpenAPISpecFiles       `json:"filesystem"`
	URL        string                 `json:"url"`
	URLs       OpenAPISpecContentURLs `json:"urls"`
}

// OpenAPISpecContentURLs are the addresses of a document. Source is the address from which the document was read. If
// the document was uploaded, Source is its address in Octavo. Public is the address at which everybody can read the
// document, or null if the document is private.
type OpenAPISpecContentURLs struct {
	Source string      `json:"source"`
	Public Opt[string] `json:"public"`
}

// OpenAPISpecFiles has the files by name. In responses for renderers, it has a list of files, because the parser of the
// renderers reads a list.
type OpenAPISpecFiles struct {
	ByName map[string]OpenAPISpecFile
	Listed []OpenAPISpecFile
}

// MarshalJSONTo writes the list if it is set, and otherwise the object.
func (f OpenAPISpecFiles) MarshalJSONTo(e *jsontext.Encoder) error {
	if f.Listed != nil {
		return json.MarshalEncode(e, f.Listed)
	}
	return json.MarshalEncode(e, f.ByName)
}

// OpenAPISpecFile is one file as JSON. If the file was YAML, it was converted. References lists the other files to
// which the file refers.
type OpenAPISpecFile struct {
	Dir           string         `json:"dir"`
	Filename      string         `json:"filename"`
	IsEntrypoint  bool           `json:"isEntrypoint"`
	References    []string       `json:"references"`
	Specification jsontext.Value `json:"specification"`
}

// OpenAPIEnums returns the enumerations of specifications. The keys are the names that rules use.
func OpenAPIEnums() map[string][]string {
	return map[string][]string{
		"specVisibility": {SpecPrivate, SpecPublic},
		"specState":      {SpecPending, SpecProgress, SpecComplete},
		"specErrorCode":  {SpecFetchTimeout, SpecFetchError, SpecParseError},
	}
}
