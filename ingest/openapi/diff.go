package openapi

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

// The limits of a comparison. References can make a few kilobytes stand for millions of comparisons.
const (
	// MaxChanges is how many changes are told.
	MaxChanges = 1000
	maxSteps   = 200_000
)

// Diff is what has changed between two documents that Parse or Fetch gave.
type Diff struct {
	Changes []schema.OpenAPISpecChange
	// Truncated says that there may be more changes: one of the limits was reached.
	Truncated bool
}

// Compare finds the changes from one document to another. What references lead to is compared once for requests and once for
// responses, however often it is used: path and method of its changes are those of its first use. Errors are Problems, for a document
// that is larger than those that are compared, or that of the context.
func Compare(ctx context.Context, base, next []byte) (Diff, error) {
	before, err := readJSON(base)
	if err != nil {
		return Diff{}, asProblems(err)
	}
	after, err := readJSON(next)
	if err != nil {
		return Diff{}, asProblems(err)
	}
	d := &differ{ctx: ctx, before: before, after: after, seen: map[compared]bool{}}
	d.servers()
	d.operations("paths", d.operationsOf(before, "paths"), d.operationsOf(after, "paths"))
	d.operations("webhooks", d.operationsOf(before, "webhooks"), d.operationsOf(after, "webhooks"))
	for len(d.queue) > 0 && !d.done() {
		first := d.queue[0]
		d.queue = d.queue[1:]
		d.schema(first)
	}
	return d.Diff, ctx.Err()
}

type differ struct {
	Diff
	ctx           context.Context //nolint:containedctx // It lives as long as one call of Compare.
	before, after *node
	path, method  string
	// direction is that of the schemas that are compared; "" for everything else.
	direction string
	steps     int
	seen      map[compared]bool
	queue     []pair
}

type compared struct {
	before, after *node
	sent          bool
}

// pair is two schemas that are compared, as what clients send or as what they receive.
type pair struct {
	before, after *node
	sent          bool
	at            *path // of after, or of before if that is gone
	path, method  string
}

// done ends a comparison at its limits, and with its context. Once it is true it stays so, for the loops around the one that asks.
func (d *differ) done() bool {
	d.steps++
	if d.steps > maxSteps || len(d.Changes) >= MaxChanges || d.ctx.Err() != nil {
		d.Truncated = true
	}
	return d.Truncated
}

// tell adds a change. what is the beginning of its text.
func (d *differ) tell(r *rule, sent bool, at *path, what string, args ...any) {
	if len(d.Changes) >= MaxChanges {
		d.Truncated = true
		return
	}
	breaking := r.breaks == always || r.breaks == inRequests && sent || r.breaks == inResponses && !sent
	d.Changes = append(d.Changes, schema.OpenAPISpecChange{
		Kind: r.kind, Path: d.path, Method: d.method, Direction: d.direction, Place: shorten(at.pointer(), 1000), Breaking: breaking,
		Text: shorten(fmt.Sprintf(what, args...), 500) + " " + r.text,
	})
}

func pathOf(names ...string) *path {
	var p *path
	for _, name := range names {
		p = p.to(name)
	}
	return p
}

// resolve follows references from a value to what is no reference, and gives the place of that.
func (d *differ) resolve(root, n *node, p *path) (*node, *path) {
	for range maxDepth {
		ref, ok := n.get("$ref").text()
		if !ok {
			return n, p
		}
		pointer, inside := strings.CutPrefix(ref, "#")
		if !inside || pointer != "" && pointer[0] != '/' { // Anchors are not looked up.
			return nil, p
		}
		if n, p = root.find(unescapeFragment(pointer)); n == nil {
			return nil, p
		}
	}
	return nil, p
}

// servers compares the addresses of the API.
func (d *differ) servers() {
	before, after := serversOf(d.before), serversOf(d.after)
	for _, server := range before {
		if !slices.Contains(after, server) {
			d.tell(serverRemoved, true, pathOf("servers"), "%q", server)
		}
	}
	for _, server := range after {
		if !slices.Contains(before, server) {
			d.tell(serverAdded, true, pathOf("servers"), "%q", server)
		}
	}
}

// mostServers bounds what is compared each with each.
const mostServers = 100

func serversOf(document *node) []string {
	var servers []string
	if list := document.get("servers"); list != nil && list.kind == '[' {
		for _, server := range list.items[:min(len(list.items), mostServers)] {
			servers = append(servers, server.get("url").str())
		}
	}
	if host := document.get("host").str(); host != "" {
		servers = append(servers, host+document.get("basePath").str())
	}
	return servers
}

// operation is an operation of a document, of any version.
type operation struct {
	root, item, node   *node
	path, method, name string
	at                 *path
}

// methodNames are the members of path items that are operations.
var methodNames = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace", "query"}

var pathVariable = regexp.MustCompile(`\{[^}]*\}`)

// operationsOf gives the operations below a member of the root, in their order. The name of one does not change with the names of the
// variables in its path.
func (d *differ) operationsOf(root *node, under string) []operation {
	var all []operation
	items := root.get(under)
	if items == nil || items.kind != '{' {
		return nil
	}
	for i, route := range items.names {
		if d.ctx.Err() != nil {
			return nil
		}
		if strings.HasPrefix(route, "x-") {
			continue
		}
		item, place := d.resolve(root, items.items[i], pathOf(under, route))
		for _, method := range methodNames {
			if n := item.get(method); n != nil {
				name := route
				if under == "paths" {
					name = pathVariable.ReplaceAllString(route, "{}")
				}
				all = append(all, operation{root, item, n, route, method, method + " " + name, place.to(method)})
			}
		}
	}
	return all
}

func (d *differ) operations(under string, before, after []operation) {
	known := map[string]operation{}
	for _, o := range after {
		known[o.name] = o
	}
	for _, o := range before {
		if _, ok := known[o.name]; !ok {
			d.path, d.method = o.path, o.method
			d.tell(operationRemoved, true, o.at, "%s %s", strings.ToUpper(o.method), o.path)
		}
	}
	clear(known)
	for _, o := range before {
		known[o.name] = o
	}
	for _, o := range after {
		if d.done() {
			return
		}
		d.path, d.method = o.path, o.method
		old, ok := known[o.name]
		if !ok {
			d.tell(operationAdded, true, o.at, "%s %s", strings.ToUpper(o.method), o.path)
			continue
		}
		if isTrue(o.node.get("deprecated")) && !isTrue(old.node.get("deprecated")) {
			d.tell(operationDeprecated, true, o.at, "%s %s", strings.ToUpper(o.method), o.path)
		}
		// Clients send what is in requests of paths, and receive what is in those of webhooks.
		d.security(old, o)
		d.parameters(old, o, under == "paths")
		d.body(old, o, under == "paths")
		d.responses(old, o, under != "paths")
	}
	d.path, d.method = "", ""
}

func isTrue(n *node) bool { return n != nil && n.kind == 't' }

// security compares the alternatives of credentials. Scopes are left out.
func (d *differ) security(before, after operation) {
	old, now := alternatives(before), alternatives(after)
	switch {
	case len(old) == 0 && len(now) > 0:
		d.tell(securityAdded, true, after.at, "%s %s", strings.ToUpper(after.method), after.path)
		return
	case len(now) == 0 && len(old) > 0:
		d.tell(securityRemoved, true, after.at, "%s %s", strings.ToUpper(after.method), after.path)
		return
	}
	for _, name := range old {
		if !slices.Contains(now, name) {
			d.tell(securityAlternativeRemoved, true, after.at.to("security"), "%q", name)
		}
	}
	for _, name := range now {
		if !slices.Contains(old, name) {
			d.tell(securityAlternativeAdded, true, after.at.to("security"), "%q", name)
		}
	}
}

func alternatives(o operation) []string {
	list := o.node.get("security")
	if list == nil {
		list = o.root.get("security")
	}
	if list == nil || list.kind != '[' {
		return nil
	}
	var all []string
	for _, one := range list.items[:min(len(list.items), mostServers)] {
		names := slices.Clone(one.names)
		if len(names) == 0 {
			return nil // It can be called without any.
		}
		slices.Sort(names)
		all = append(all, strings.Join(names, " and "))
	}
	return all
}

func unescapeFragment(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}
