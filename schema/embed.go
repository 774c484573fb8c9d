package schema

// EmbedLink is the type of an embed that is shown as a link with a title. The contract has two more types: embeds with
// HTML of the embedded page, and embeds by integrations. Octavo does not return embeds of these types, because it does
// not pass on HTML of other sites.
const EmbedLink = "link"

// Embed is the preview of an address that a page embeds.
type Embed struct {
	Type  string `json:"type" rules:"enum=embedType"`
	Title string `json:"title"`
	Site  string `json:"site"`
	Icon  string `json:"icon,omitempty"`
}
