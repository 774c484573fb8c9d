package schema

// EmbedLink is the type of an embed that is shown as a link with a title. The contract has further types, with HTML of
// the embedded page or by integrations. Octavo does not pass on HTML of other sites.
const EmbedLink = "link"

// Embed is the preview of an address in a page.
type Embed struct {
	Type  string `json:"type" rules:"enum=embedType"`
	Title string `json:"title"`
	Site  string `json:"site"`
	Icon  string `json:"icon,omitempty"`
}
