package schema

import "time"

// TranslationPending is the status of a translation that has never run. The others are running and completed.
const TranslationPending = "pending"

// TranslationStatuses are the values of a translation's `status`.
func TranslationStatuses() []string { return []string{TranslationPending, "running", "completed"} }

// Translation keeps a copy of a space in another language. LastRun is our addition: the state of the run that was requested
// last. It is absent before the first run.
type Translation struct {
	Object       string                 `json:"object"`
	ID           string                 `json:"id"`
	Status       string                 `json:"status" rules:"enum=translationStatus"`
	Source       TranslationSource      `json:"source"`
	Language     string                 `json:"language" rules:"enum=language"`
	Instructions Document               `json:"instructions"`
	CreatedAt    time.Time              `json:"createdAt"`
	UpdatedAt    time.Time              `json:"updatedAt"`
	Stats        TranslationStats       `json:"stats"`
	LastRun      *TranslationRun        `json:"lastRun,omitempty"`
	Permissions  TranslationPermissions `json:"permissions"`
	URLs         LocationURLs           `json:"urls"`
}

// TranslationSource is the content that is translated.
type TranslationSource struct {
	Space    string `json:"space"`
	Language string `json:"language" rules:"enum=language"`
}

// TranslationStats sums up the work of the runs. Durations are in seconds.
type TranslationStats struct {
	Runs              int32 `json:"runs"`
	TotalWords        int64 `json:"totalWords"`
	TotalPages        int64 `json:"totalPages"`
	TotalDuration     int64 `json:"totalDuration"`
	LatestRunDuration int64 `json:"latestRunDuration"`
	LatestPages       int64 `json:"latestPages"`
	LatestWords       int64 `json:"latestWords"`
}

// RunQueued is the state of a run that nothing has started yet.
const RunQueued = "queued"

// TranslationRun is a requested run. Reason says why it is in its state.
type TranslationRun struct {
	State       string    `json:"state"`
	Reason      string    `json:"reason,omitempty"`
	RequestedAt time.Time `json:"requestedAt"`
}

// TranslationPermissions say what the caller may do with a translation.
type TranslationPermissions struct {
	View bool `json:"view"`
	Edit bool `json:"edit"`
}

// Location is the address of a new translation in the answer to its creation.
func (t Translation) Location() string { return t.URLs.Location }

// The operations on a glossary entry.
const (
	GlossaryInsert = "insert"
	GlossaryUpdate = "update"
	GlossaryDelete = "delete"
)

// GlossaryOperations are the values of a glossary operation's `type`.
func GlossaryOperations() []string { return []string{GlossaryInsert, GlossaryUpdate, GlossaryDelete} }

// GlossaryEntry is a term in several languages, which translations must use.
type GlossaryEntry struct {
	Object       string            `json:"object"`
	ID           string            `json:"id"`
	Translations map[string]string `json:"translations"`
	CreatedAt    time.Time         `json:"createdAt"`
	UpdatedAt    time.Time         `json:"updatedAt"`
	URLs         LocationURLs      `json:"urls"`
}
