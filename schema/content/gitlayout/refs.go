package gitlayout

import (
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/markdown"
)

// linker converts the references of a repository to references of a space, and back.
type linker struct {
	layout  *Layout
	treeURL string
	// `page` and `file` return the id of the page or file at a path.
	page func(path string) (id string, ok bool)
	file func(path string) (id string, ok bool)
	// pagePath and filePath return the path of the page or file with an id.
	pagePath, filePath func(id string) (path string, ok bool)
}

// mediaExtensions are the extensions of files that pages show or offer for download. Such files may be anywhere in the
// repository.
var mediaExtensions = []string{
	".avif", ".bmp", ".gif", ".ico", ".jpeg", ".jpg", ".mov", ".mp3", ".mp4", ".ogg", ".pdf", ".png", ".svg", ".tif", ".tiff", ".wav", ".webm", ".webp", ".zip",
}

// isAsset reports whether a file becomes a file of the space when a page refers to it.
func (k *linker) isAsset(target string) bool {
	if _, there := k.layout.files[target]; !there || k.layout.isPage(target) || target == k.layout.Summary || target == k.layout.Config {
		return false
	}
	media := slices.Contains(mediaExtensions, strings.ToLower(path.Ext(target))) || inFolder(target, assetFolder)
	return media || k.treeURL == "" && strings.HasPrefix(target, k.layout.Root)
}

// inFolder reports whether a file is below a folder with this name, anywhere in the repository.
func inFolder(name, folder string) bool { return strings.Contains("/"+name, "/"+folder) }

// isInclude reports whether a file is a reusable content.
func isInclude(name string) bool {
	return inFolder(name, includeFolder) && strings.EqualFold(path.Ext(name), ".md")
}

// resolve finds the target of a link in a file. A link that begins with a slash is relative to the root of the content.
// If only the repository's root has such a file, the link is relative to that root.
func (l *Layout) resolve(from, link string) (target, fragment string, ok bool) {
	rooted, fromRoot := strings.CutPrefix(link, "/")
	if !fromRoot || strings.HasPrefix(rooted, "/") {
		return content.RelativeTarget(path.Dir(from), link)
	}
	if name, _, _ := strings.Cut(rooted, "#"); name == "" {
		return l.Readme, strings.TrimPrefix(rooted, "#"), true
	}
	target, fragment, ok = content.RelativeTarget(strings.TrimSuffix(l.Root, "/"), rooted)
	if _, there := l.files[target]; there || l.Root == "" || l.folders[target+"/"] {
		return target, fragment, ok
	}
	if other, _, found := content.RelativeTarget("", rooted); found {
		if _, there := l.files[other]; there {
			return other, fragment, true
		}
	}
	return target, fragment, ok
}

// read converts a reference of a file to a reference of the space. It returns nil to leave the reference unchanged.
func (k *linker) read(from string, ref map[string]any) map[string]any {
	var link string
	switch ref["kind"] {
	case "reusable-content":
		return k.readInclude(from, ref)
	case "file":
		link, _ = ref["file"].(string)
	case "url":
		link, _ = ref["url"].(string)
	default:
		return nil
	}
	target, fragment, ok := k.layout.resolve(from, link)
	if !ok {
		return nil
	}
	if ref["kind"] == "file" {
		return k.readFile(target, fragment)
	}
	if _, there := k.layout.files[target]; !there {
		if own, folder := k.layout.readmeOf(strings.TrimSuffix(target, "/") + "/"); folder {
			target = own
		} else if path.Ext(target) == "" {
			target = k.withExtension(target)
		}
	}
	if id, ok := k.page(target); ok {
		if fragment != "" {
			return valid(map[string]any{"kind": "anchor", "page": id, "anchor": fragment})
		}
		return valid(map[string]any{"kind": "page", "page": id})
	}
	if file := k.readFile(target, fragment); file != nil {
		return file
	}
	_, there := k.layout.files[target]
	if k.treeURL != "" && (there || k.layout.folders[target+"/"]) {
		address := strings.TrimSuffix(k.treeURL, "/") + "/" + strings.TrimPrefix(content.RelativeLink("x", target), "./")
		if fragment != "" {
			address += "#" + fragment
		}
		return valid(map[string]any{"kind": "url", "url": address})
	}
	return nil
}

// withExtension adds the page's extension to the target of a link without an extension. Links of site generators often
// have this form.
func (k *linker) withExtension(target string) string {
	for _, ext := range pageExtensions {
		if _, ok := k.page(target + ext); ok {
			return target + ext
		}
	}
	return target
}

// readFile returns a reference to a file of the space. The fragment of a link selects a part of the file, or how the
// file is shown.
func (k *linker) readFile(target, fragment string) map[string]any {
	if !k.isAsset(target) {
		return nil
	}
	id, ok := k.file(target)
	if !ok {
		return nil
	}
	ref := map[string]any{"kind": "file", "file": id}
	if fragment != "" {
		ref["fragment"] = fragment
	}
	return ref
}

// readInclude finds the file of a reusable content. The file becomes a file of the space. Its path is relative to the
// file that includes it, or to the root.
func (k *linker) readInclude(from string, ref map[string]any) map[string]any {
	link, _ := ref["reusableContent"].(string)
	for _, folder := range []string{path.Dir(from), strings.TrimSuffix(k.layout.Root, "/")} {
		target, fragment, ok := content.RelativeTarget(folder, link)
		if _, there := k.layout.files[target]; !ok || fragment != "" || !there || !isInclude(target) {
			continue
		}
		if _, page := k.page(target); page {
			continue
		}
		if id, ok := k.file(target); ok {
			return map[string]any{"kind": "reusable-content", "reusableContent": id}
		}
	}
	return nil
}

func valid(ref map[string]any) map[string]any {
	if len(schema.ContentRefProblems("", ref)) > 0 {
		return nil
	}
	return ref
}

// toSpace returns the document of a file with references to pages and files of the space.
func (k *linker) toSpace(from string, d schema.Document) schema.Document {
	return markdown.MapRefs(d, func(ref map[string]any) map[string]any { return k.read(from, ref) })
}

// spellings has the references as they are spelled in the file, in the order of the file. The key of the map is the
// target of the reference in the space.
type spellings map[string][]map[string]any

// toFile returns the document with references to files of the repository. A reference that `original` also has keeps
// the spelling of `original`.
func (k *linker) toFile(from string, original, d schema.Document) schema.Document {
	links, blocks := spellings{}, spellings{}
	markdown.MapRefs(original, func(ref map[string]any) map[string]any {
		means := k.read(from, ref)
		if means == nil {
			means = k.ownAnchor(from, ref)
		}
		if means != nil {
			into := links
			if ref["kind"] == "file" {
				into = blocks
			}
			into[meaning(means)] = append(into[meaning(means)], ref)
		}
		return nil
	})
	d.Nodes = k.fileBlocks(from, d.Nodes, blocks)
	return markdown.MapRefs(d, func(ref map[string]any) map[string]any {
		means := ref
		if own := k.ownAnchor(from, ref); own != nil {
			means = own // if no client has changed the text, the document still has the link as it is in the file
		}
		if spelled := links.next(means); spelled != nil {
			return spelled
		}
		return k.write(from, ref)
	})
}

// ownAnchor converts a link to an anchor in the same file to a reference of the space. It returns nil for other
// references.
func (k *linker) ownAnchor(from string, ref map[string]any) map[string]any {
	link, _ := ref["url"].(string)
	anchor, own := strings.CutPrefix(link, "#")
	id, ok := k.page(from)
	if !own || !ok || ref["kind"] != "url" {
		return nil
	}
	return map[string]any{"kind": "anchor", "page": id, "anchor": anchor}
}

func meaning(ref map[string]any) string {
	text, err := json.Marshal(ref, json.Deterministic(true))
	if err != nil {
		return "" // cannot happen, because the value was decoded from JSON
	}
	return string(text)
}

// next returns the next spelling of a reference with the same meaning. After the last spelling, `next` repeats the last
// spelling.
func (s spellings) next(ref map[string]any) map[string]any {
	key := meaning(ref)
	list := s[key]
	if len(list) == 0 {
		return nil
	}
	if len(list) > 1 {
		s[key] = list[1:]
	}
	return list[0]
}

func (k *linker) write(from string, ref map[string]any) map[string]any {
	var link string
	switch ref["kind"] {
	case "page", "anchor":
		if _, elsewhere := ref["space"]; elsewhere {
			return nil
		}
		id, _ := ref["page"].(string)
		at, ok := k.pagePath(id)
		if !ok {
			return nil
		}
		anchor, anchored := ref["anchor"].(string)
		if anchored = anchored && ref["kind"] == "anchor"; !anchored || at != from {
			link = content.RelativeLink(from, at)
		}
		if anchored {
			link += "#" + anchor
		}
	case "file":
		id, _ := ref["file"].(string)
		at, ok := k.filePath(id)
		if _, elsewhere := ref["space"]; elsewhere || !ok {
			return nil
		}
		link = content.RelativeLink(from, at)
		if fragment, ok := ref["fragment"].(string); ok {
			link += "#" + fragment
		}
	case "reusable-content":
		id, _ := ref["reusableContent"].(string)
		at, ok := k.filePath(id)
		if _, elsewhere := ref["space"]; elsewhere || !ok {
			return nil
		}
		return map[string]any{"kind": "reusable-content", "reusableContent": content.RelativeLink(from, at)}
	default:
		return nil
	}
	return valid(map[string]any{"kind": "url", "url": link})
}

// fileBlocks spells the references of file blocks as in the repository. Such a reference has the file's path in the
// member `file`. All other references have the path in the member `url`.
func (k *linker) fileBlocks(from string, nodes []schema.Node, spelled spellings) []schema.Node {
	nodes = slices.Clone(nodes)
	for i := range nodes {
		n := &nodes[i]
		n.Nodes, n.Fragments = k.fileBlocks(from, n.Nodes, spelled), k.fileBlocks(from, n.Fragments, spelled)
		ref, ok := n.Data["ref"].(map[string]any)
		if !ok || n.Type != "file" && n.Type != "drawing" || ref["kind"] != "file" {
			continue
		}
		as := spelled.next(ref)
		if written := k.write(from, ref); as == nil && written != nil {
			as = map[string]any{"kind": "file", "file": written["url"]}
		}
		if as != nil {
			data := schema.Data{}
			for name, value := range n.Data {
				data[name] = value
			}
			data["ref"] = as
			n.Data = data
		}
	}
	return nodes
}
