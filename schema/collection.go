package schema

// Collection groups spaces and other collections.
type Collection struct {
	Object       string                `json:"object"`
	ID           string                `json:"id"`
	Title        string                `json:"title"`
	Description  string                `json:"description,omitempty"`
	Organization string                `json:"organization"`
	Parent       string                `json:"parent,omitempty"`
	DefaultLevel Level                 `json:"defaultLevel"`
	URLs         CollectionURLs        `json:"urls"`
	Permissions  CollectionPermissions `json:"permissions"`
}

// CollectionURLs are the addresses of a collection.
type CollectionURLs struct {
	Location string `json:"location"`
	App      string `json:"app"`
}

// CollectionPermissions says which rights the caller has on a collection.
type CollectionPermissions struct {
	View            bool `json:"view"`
	Admin           bool `json:"admin"`
	ViewInviteLinks bool `json:"viewInviteLinks"`
	Create          bool `json:"create"`
}

// Location returns the Location header of the response that creates the collection.
func (c Collection) Location() string { return c.URLs.Location }
