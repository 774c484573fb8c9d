package openapi

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// check makes sure that a document is one that readers of OpenAPI can start with: its version, its parts, its paths and its
// references. It takes time in proportion to the document, which is why it is not a full validation: libraries that do one
// read every part again for each level that it is nested in.
func check(root any) error {
	document, ok := root.(map[string]any)
	if !ok {
		return fmt.Errorf("is no OpenAPI document, which is an object: it reads as %s", kind(root))
	}
	version, err := versionOf(document)
	if err != nil {
		return err
	}
	info, ok := document["info"].(map[string]any)
	if !ok {
		return fmt.Errorf("needs an object as info")
	}
	for _, name := range []string{"title", "version"} {
		if _, ok := info[name].(string); !ok {
			return fmt.Errorf("needs a string as info.%s, got %s: YAML wants quotes around what looks like a number", name, kind(info[name]))
		}
	}
	if err := checkParts(document, version); err != nil {
		return err
	}
	return (&references{root: document}).walk("", document)
}

var version3 = regexp.MustCompile(`^3\.(\d+)(\.\d+)?(-.+)?$`)

// versionOf is the minor version of OpenAPI 3, or -1 for Swagger 2.
func versionOf(document map[string]any) (int, error) {
	if document["swagger"] == "2.0" {
		return -1, nil
	}
	text, _ := document["openapi"].(string)
	if found := version3.FindStringSubmatch(text); found != nil {
		return strconv.Atoi(found[1])
	}
	return 0, fmt.Errorf(`must say openapi: "3.x.y" or swagger: "2.0"`)
}

var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}

// checkParts checks the objects at the top and, below paths, those down to the operations.
func checkParts(document map[string]any, minor int) error {
	found := false
	for _, name := range []string{"paths", "webhooks", "components", "definitions"} {
		part, given := document[name]
		if !given {
			continue
		}
		if _, ok := part.(map[string]any); !ok {
			return fmt.Errorf("needs an object as %s, got %s", name, kind(part))
		}
		found = found || minor >= 1 || name == "paths"
	}
	if !found {
		return fmt.Errorf("has no paths")
	}
	paths, _ := document["paths"].(map[string]any)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if strings.HasPrefix(path, "x-") {
			continue
		}
		if !strings.HasPrefix(path, "/") {
			return fmt.Errorf("has the path %q, which does not start with a slash", path)
		}
		item, ok := paths[path].(map[string]any)
		if !ok {
			return fmt.Errorf("needs an object as the path %q, got %s", path, kind(paths[path]))
		}
		for _, method := range methods {
			if operation, given := item[method]; given {
				if _, ok := operation.(map[string]any); !ok {
					return fmt.Errorf("needs an object as %s of the path %q, got %s", method, path, kind(operation))
				}
			}
		}
	}
	return nil
}

// literal are the members whose values are the API's data, not parts of the document.
var literal = map[string]bool{"example": true, "default": true, "enum": true, "const": true, "value": true}

type references struct {
	root any
}

// walk checks every reference. It refuses references to anything outside the document, whether that exists or not.
func (r *references) walk(pointer string, value any) error {
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			if err := r.walk(pointer+"/"+strconv.Itoa(i), item); err != nil {
				return err
			}
		}
	case map[string]any:
		if reference, ok := value["$ref"].(string); ok {
			if err := r.follow(reference); err != nil {
				return fmt.Errorf("%w at %s", err, pointer)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if literal[name] || strings.HasPrefix(name, "x-") {
				continue
			}
			if err := r.walk(pointer+"/"+name, value[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

func (r *references) follow(reference string) error {
	path, inside := strings.CutPrefix(reference, "#/")
	switch {
	case reference == "#", strings.HasPrefix(reference, "#") && !inside: // An anchor, which JSON Schema lets stand anywhere.
		return nil
	case !inside:
		return fmt.Errorf("refers to another document, %q: send one that holds everything,", reference)
	}
	target := r.root
	for name := range strings.SplitSeq(path, "/") {
		// In a reference, a name may be escaped as in any URL, beside the escapes of JSON pointers.
		if decoded, err := url.PathUnescape(name); err == nil {
			name = decoded
		}
		name = unescape.Replace(name)
		switch parent := target.(type) {
		case map[string]any:
			target = parent[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(parent) {
				target = nil
			} else {
				target = parent[i]
			}
		default:
			target = nil
		}
		if target == nil {
			return fmt.Errorf("refers to %q, which it does not have,", reference)
		}
	}
	return nil
}

func kind(value any) string {
	switch value.(type) {
	case nil:
		return "nothing"
	case string:
		return "a string"
	case float64:
		return "a number"
	case bool:
		return "a boolean"
	case []any:
		return "an array"
	}
	return "an object"
}
