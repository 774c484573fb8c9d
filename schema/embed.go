package schema

// EmbedLink is the type of an embed that is shown as a link with a title. The contract has others, with HTML of the embedded page or
// by integrations; Octavo passes on no HTML of strangers.
const EmbedLink = "link"

// Embed is how an address is shown in a page.
type Embed struct {
	Type  string `json:"type" rules:"enum=embedType"`
	Title string `json:"title"`
	Site  string `json:"site"`
	Icon  string `json:"icon,omitempty"`
}
