package markdown

import (
	"slices"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// columnKind reads and writes the cells of a type of column. Columns of the type text have no columnKind, because their
// cells contain blocks.
type columnKind struct {
	read  func(r *reader, about map[string]any, td *element) (any, bool)
	write func(labels content.OptionLabels, about map[string]any, value any) string
}

// columnKinds has a row for each type of column except text.
var columnKinds = map[string]columnKind{
	"number":      {readNumberCell, writePlainCell},
	"rating":      {readNumberCell, writePlainCell},
	"checkbox":    {readCheckCell, writePlainCell},
	"content-ref": {readRefCell, writeRefCell},
	"image":       {readImageCell, writeImageCell},
	"files":       {readFilesCell, writeFilesCell},
	"users":       {readListCell, writeListCell},
	"select":      {readSelectCell, writeSelectCell},
}

func textOfCell(td *element) (string, bool) {
	text, ok := td.plain()
	return strings.TrimSpace(text), ok
}

func readNumberCell(_ *reader, _ map[string]any, td *element) (any, bool) {
	text, ok := textOfCell(td)
	if text == "" {
		return nil, ok
	}
	number, err := strconv.ParseFloat(text, 64)
	return number, ok && err == nil && formatNumber(number) == text
}

func readCheckCell(_ *reader, _ map[string]any, td *element) (any, bool) {
	text, ok := textOfCell(td)
	if text == "" {
		return nil, ok
	}
	return text == "true", ok && (text == "true" || text == "false")
}

func writePlainCell(_ content.OptionLabels, _ map[string]any, value any) string {
	if value == nil {
		return ""
	}
	return inlinesHTML(content.CellText(value))
}

// cellLinks returns the links of a cell. The second result is false if the cell contains anything that is not a link.
func cellLinks(td *element) ([]*element, bool) {
	list, ok := td.elements()
	for _, a := range list {
		href, given := a.attrs.get("href")
		_, plain := a.plain()
		ok = ok && a.name == "a" && given && plain && a.attrs.only("href") && !strings.ContainsRune(href, 0)
	}
	return list, ok
}

// readRefCell reads a link as a reference. If the link's text differs from the name of the file, the reference stores
// the text.
func readRefCell(_ *reader, _ map[string]any, td *element) (any, bool) {
	list, ok := cellLinks(td)
	if !ok || len(list) == 0 {
		return nil, ok
	}
	href, _ := list[0].attrs.get("href")
	ref, allowed := content.Ref(href)
	if label, _ := list[0].plain(); allowed && label != fileLabel(href) && !content.ByID(href) {
		ref[content.MemberTitle] = label
	}
	return ref, allowed && len(list) == 1
}

func writeRefCell(_ content.OptionLabels, _ map[string]any, value any) string {
	if refKind(value) == "" {
		return ""
	}
	title, given := stringMap(value)["title"].(string)
	link := content.Link(value)
	if !given {
		title = fileLabel(link)
	}
	return anchorHTML(link, title)
}

func anchorHTML(link, label string) string {
	return openTag("a", attributes{{name: "href", value: link}}) + escapeHTML.Replace(label) + "</a>"
}

// readImageCell reads an image: a link to the image, or an <img> that also says how the image fills its card.
func readImageCell(r *reader, about map[string]any, td *element) (any, bool) {
	list, ok := td.elements()
	if !ok || len(list) != 1 || list[0].name != "img" {
		fit, given := td.attrs.get("data-object-fit")
		ref, ok := readRefCell(r, about, td)
		kind := refKind(ref)
		if !given || ref == nil {
			return ref, ok && !given && (ref == nil || kind == "url" || kind == "file")
		}
		return map[string]any{"ref": ref, "objectFit": fit}, ok && (kind == "url" || kind == "file") && slices.Contains(objectFits, fit)
	}
	data, ok := imageData(list[0].attrs)
	value := map[string]any{}
	for name, member := range data {
		value[name] = member
	}
	if fit, given := td.attrs.get("data-object-fit"); given {
		value["objectFit"] = fit
		ok = ok && slices.Contains(objectFits, fit)
	}
	value["alt"] = content.Member(data, "alt")
	return value, ok && onlyMembers(data, "ref", "alt")
}

var objectFits = []string{"contain", "fill", "cover"}

func writeImageCell(labels content.OptionLabels, about map[string]any, value any) string {
	if image := stringMap(value); image["ref"] != nil {
		if _, given := image["alt"].(string); given {
			return imageHTML(schema.Data{"ref": image["ref"], "alt": image["alt"]})
		}
		return writeRefCell(labels, about, image["ref"])
	}
	return writeRefCell(labels, about, value)
}

// readFilesCell reads a list of files. Each value is the id of a file of the space, or a path in a repository.
func readFilesCell(r *reader, about map[string]any, td *element) (any, bool) {
	value, ok := readListCell(r, about, td)
	list, _ := value.([]any)
	for i, item := range list {
		link, _ := item.(string)
		if ref, isRef := content.Ref(link); isRef && len(ref) == 2 && ref["kind"] == "file" {
			list[i] = ref["file"]
		}
	}
	return value, ok
}

func writeFilesCell(labels content.OptionLabels, about map[string]any, value any) string {
	list, isList := value.([]any)
	if !isList {
		return writeListCell(labels, about, value)
	}
	links := slices.Clone(list)
	for i, item := range list {
		if name, ok := item.(string); ok && isFileID(name) {
			links[i] = content.Link(map[string]any{"kind": "file", "file": name})
		}
	}
	return writeListCell(labels, about, links)
}

// isFileID reports whether a value in a column of files is an id. Any other value is a path or an address. A path
// contains a dot or a slash, and an id contains neither.
func isFileID(name string) bool { return schema.ValidID(name) && !strings.ContainsAny(name, "./:") }

// readListCell reads a list of files or users. Each element of the list is a link whose text is the name of the file or
// user.
func readListCell(_ *reader, _ map[string]any, td *element) (any, bool) {
	list, ok := cellLinks(td)
	if !ok || len(list) == 0 {
		return nil, ok
	}
	names := []any{}
	for _, a := range list {
		href, _ := a.attrs.get("href")
		label, _ := a.plain()
		ok = ok && (label == fileLabel(href) || content.ByID(href))
		names = append(names, href)
	}
	return names, ok
}

func writeListCell(labels content.OptionLabels, _ map[string]any, value any) string {
	var b strings.Builder
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			switch item := item.(type) {
			case string:
				b.WriteString(anchorHTML(content.Clean(item), fileLabel(content.Clean(item))))
			case map[string]any: // the value is a reference with a name
				link := content.Link(item)
				if user, ok := item["user"].(string); ok {
					link = user
				}
				b.WriteString(anchorHTML(link, refLabel(item)))
			}
		}
	case map[string]any:
		return writeRefCell(labels, nil, value)
	case string:
		return anchorHTML(content.Clean(value), fileLabel(content.Clean(value)))
	}
	return b.String()
}

// readSelectCell reads the chosen options. The definition of the column has the labels of the options.
func readSelectCell(r *reader, about map[string]any, td *element) (any, bool) {
	list, ok := td.elements()
	if !ok {
		return nil, false
	}
	if r.labels == nil {
		r.labels = content.OptionLabels{}
	}
	labels := r.labels.Of(about)
	chosen := []any{}
	for i, span := range list {
		option, given := span.attrs.get("data-option")
		text, plain := span.plain()
		label, known := labels[option]
		text = strings.TrimRight(text, " ")
		if i < len(list)-1 {
			text = strings.TrimSuffix(text, ",")
		}
		if span.name != "span" || !given || !plain || !span.attrs.only("data-option") || !known || text != label {
			return nil, false
		}
		chosen = append(chosen, option)
	}
	if len(chosen) == 0 {
		return nil, true
	}
	return chosen, about["multiple"] == true || len(chosen) == 1
}

func writeSelectCell(labels content.OptionLabels, about map[string]any, value any) string {
	list, isList := value.([]any)
	if name, ok := value.(string); ok && !isList {
		list = []any{name}
	}
	parts := make([]string, 0, len(list))
	for i, item := range list {
		name, _ := item.(string)
		label := labels.Of(about)[content.Clean(name)]
		if i < len(list)-1 {
			label += ", "
		}
		parts = append(parts, openTag("span", attributes{{name: "data-option", value: content.Clean(name)}})+escapeHTML.Replace(label)+"</span>")
	}
	return strings.Join(parts, "")
}
