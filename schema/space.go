package schema

import "time"

// Space is a container of documentation content.
type Space struct {
	Object       string        `json:"object"`
	ID           string        `json:"id"`
	Title        string        `json:"title"`
	Emoji        string        `json:"emoji"`
	Visibility   string        `json:"visibility"`
	CreatedAt    time.Time     `json:"createdAt"`
	UpdatedAt    time.Time     `json:"updatedAt"`
	DeletedAt    *time.Time    `json:"deletedAt,omitempty"`
	EditMode     string        `json:"editMode,omitempty"`
	MergeRules   MergeRules    `json:"mergeRules"`
	URLs         SpaceURLs     `json:"urls"`
	Organization string        `json:"organization"`
	Parent       string        `json:"parent,omitempty"`
	Language     string        `json:"language,omitempty"`
	GitSync      *GitSyncState `json:"gitSync,omitzero"`
	// GitTrusted lists the branches whose imports need not meet the merge rules. Only administrators of the space see
	// it.
	GitTrusted          []GitBranch      `json:"gitTrusted,omitempty"`
	Revision            string           `json:"revision"`
	DefaultLevel        Level            `json:"defaultLevel"`
	Comments            int64            `json:"comments"`
	ChangeRequests      int64            `json:"changeRequests"`
	ChangeRequestsOpen  int64            `json:"changeRequestsOpen"`
	ChangeRequestsDraft int64            `json:"changeRequestsDraft"`
	Permissions         SpacePermissions `json:"permissions"`
}

// SpaceURLs are the addresses of a space. Published and Public are absent if only members may read the space.
type SpaceURLs struct {
	Location  string `json:"location"`
	App       string `json:"app"`
	Published string `json:"published,omitempty"`
	Public    string `json:"public,omitempty"`
	Icon      string `json:"icon,omitempty"`
}

// SpacePermissions says which rights the caller has on a space.
type SpacePermissions struct {
	View               bool `json:"view"`
	Access             bool `json:"access"`
	Admin              bool `json:"admin"`
	ViewInviteLinks    bool `json:"viewInviteLinks"`
	Edit               bool `json:"edit"`
	TriggerGitSync     bool `json:"triggerGitSync"`
	Comment            bool `json:"comment"`
	Merge              bool `json:"merge"`
	Review             bool `json:"review"`
	InstallIntegration bool `json:"installIntegration"`
}

// Location returns the Location header of the response that creates the space.
func (s Space) Location() string { return s.URLs.Location }

// EditModeLocked is the mode of a space whose content users can change only with change requests.
const EditModeLocked = "locked"

// EditModes returns the values of a space's `editMode`.
func EditModes() []string { return []string{"live", EditModeLocked} }

// Languages returns the languages in which a space can be written, or into which it can be translated.
func Languages() []string {
	return []string{
		"en", "fr", "de", "es", "it", "pt", "pt-br", "ru", "ja", "zh", "yue", "ko", "ar", "hi", "nl", "pl", "tr", "sv", "no", "da",
		"fi", "el", "cs", "hu", "ro", "th", "vi", "id", "ms", "he", "uk", "sk", "bg", "hr", "lt", "lv", "et", "sl",
	}
}
