package schema

// User is a person with an account.
type User struct {
	Object      string   `json:"object"`
	ID          string   `json:"id"`
	DisplayName string   `json:"displayName"`
	Email       string   `json:"email,omitempty"`
	PhotoURL    string   `json:"photoURL,omitempty"`
	URLs        UserURLs `json:"urls"`
}

// UserURLs are the addresses of a user.
type UserURLs struct {
	Location string `json:"location"`
}
