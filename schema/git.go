package schema

import (
	"net/url"
	"path"
	"strings"
	"time"
)

// GitSyncState is the repository with which a space is synchronized.
type GitSyncState struct {
	RepoName             string     `json:"repoName,omitempty"`
	InstallationProvider string     `json:"installationProvider,omitempty"`
	Integration          string     `json:"integration,omitempty"`
	URL                  string     `json:"url,omitempty"`
	UpdatedAt            *time.Time `json:"updatedAt,omitempty"`
}

// GitOperation is an import or an export of a space, from the time of its request.
type GitOperation struct {
	Object    string    `json:"object"`
	ID        string    `json:"id"`
	Kind      string    `json:"kind" rules:"enum=gitOperationKind"`
	State     string    `json:"state" rules:"enum=gitOperationState"`
	Reason    string    `json:"reason,omitempty"`
	URL       string    `json:"url"`
	Ref       string    `json:"ref"`
	Timestamp time.Time `json:"timestamp"`
	CreatedAt time.Time `json:"createdAt"`
	// Commit is the imported or pushed commit. Revision is the import's new revision or the export's source.
	Commit     string     `json:"commit,omitempty"`
	CommitURL  string     `json:"commitURL,omitempty"`
	Revision   string     `json:"revision,omitempty"`
	FinishedAt *time.Time `json:"finishedAt,omitempty"`
	// NextAttemptAt is the earliest time of the next attempt of a retrying operation.
	NextAttemptAt *time.Time `json:"nextAttemptAt,omitempty"`
	// Progress is the current or final progress of an operation.
	Progress *GitProgress `json:"progress,omitempty"`
	// ChangeRequest is the request that an import created or updated. For a waiting export, it is the request for which
	// the export waits. WaitsFor is the operation that a queued operation waits for. Reason describes both waits in
	// words.
	ChangeRequest string `json:"changeRequest,omitempty"`
	WaitsFor      string `json:"waitsFor,omitempty"`
	// AllowedBy is the reason why an import changed the space although the space has merge rules.
	AllowedBy string `json:"allowedBy,omitempty" rules:"enum=gitAllowedBy"`
	// Notes name the files that were left out or changed.
	Notes []GitNote `json:"notes,omitempty"`
}

// GitProgress is the progress of an operation: the finished pages or files of a step, and their total.
type GitProgress struct {
	Step  string `json:"step" rules:"enum=gitStep"`
	Done  int    `json:"done"`
	Total int    `json:"total"`
}

// GitBranch is a branch of a repository, and a folder there. Without a folder, it is the branch with all its folders.
type GitBranch struct {
	URL                  string  `json:"url"`
	Ref                  string  `json:"ref"`
	RepoProjectDirectory *string `json:"repoProjectDirectory,omitempty"`
}

// Covers reports whether an operation belongs to the branch and its folder.
func (b GitBranch) Covers(address, ref string, folder *string) bool {
	return b.URL == address && b.Ref == ref &&
		(b.RepoProjectDirectory == nil || GitFolder(b.RepoProjectDirectory) == GitFolder(folder))
}

// SameRepository reports whether two addresses are of one repository.
func SameRepository(a, b string) bool { return a != "" && plainRepository(a) == plainRepository(b) }

func plainRepository(address string) string {
	return strings.TrimSuffix(strings.TrimRight(address, "/"), ".git")
}

// GitFolder returns the canonical form of a repository's folder; the root is "".
func GitFolder(folder *string) string { return strings.Trim(path.Clean("/"+Or(folder, "")), "/") }

// GitNote is about a file of a repository. Both members are for users.
type GitNote struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// GitParameters are the options of an import or an export other than the repository and the branch. They are stored for
// the engine and appear in no answer.
type GitParameters struct {
	CommitMessage        *string `json:"commitMessage,omitempty"`
	RepoCacheID          *string `json:"repoCacheID,omitempty"`
	RepoTreeURL          *string `json:"repoTreeURL,omitempty"`
	RepoCommitURL        *string `json:"repoCommitURL,omitempty"`
	RepoProjectDirectory *string `json:"repoProjectDirectory,omitempty"`
	Force                *bool   `json:"force,omitempty"`
	Standalone           *bool   `json:"standalone,omitempty"`
}

// The kinds and the states of git operations.
const (
	GitImport = "import"
	GitExport = "export"

	GitQueued  = "queued"
	GitRunning = "running"
	// GitWaiting is an export's state while a change request with an import of its branch is open.
	GitWaiting = "waiting"
	GitDone    = "done"
	GitFailed  = "failed"
	GitSkipped = "skipped"
	// GitRetrying is the state of an operation that failed and is tried again. GitSuperseded is its last state if a
	// later operation is completed first.
	GitRetrying   = "retrying"
	GitSuperseded = "superseded"
	GitCancelled  = "cancelled"

	// GitFetching, GitPages, GitFiles and GitPushing are the steps of an operation. It fetches the repository, reads or
	// writes pages, stores files, and pushes the commit.
	GitFetching = "fetch"
	GitPages    = "pages"
	GitFiles    = "files"
	GitPushing  = "push"

	GitBypass  = "bypass"
	GitTrusted = "trusted"
)

// GitEnums returns the enumerations of Git, by the names that rules use.
func GitEnums() map[string][]string {
	return map[string][]string{
		"gitProvider":      {"github", "gitlab"},
		"gitOperationKind": {GitImport, GitExport},
		"gitOperationState": {
			GitQueued, GitRunning, GitRetrying, GitWaiting, GitDone, GitFailed, GitSkipped, GitSuperseded, GitCancelled,
		},
		"gitStep":      {GitFetching, GitPages, GitFiles, GitPushing},
		"gitAllowedBy": {GitBypass, GitTrusted},
	}
}

// GitOver reports whether an operation in a state has ended.
func GitOver(state string) bool {
	switch state {
	case GitDone, GitFailed, GitSkipped, GitSuperseded, GitCancelled:
		return true
	}
	return false
}

// WithoutCredentials removes the user and the password from an address. It returns "" for text that is not an address.
func WithoutCredentials(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if u.User == nil {
		return address
	}
	u.User = nil
	return u.String()
}

// RepoName returns the owner and the repository in an address.
func RepoName(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(strings.Trim(path.Clean("/"+u.Path), "/"), ".git")
}
