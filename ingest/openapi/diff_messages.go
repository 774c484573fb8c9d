package openapi

import (
	"slices"
	"strconv"
	"strings"
)

// parameter is one of an operation, with what its value may be.
type parameter struct {
	name, in string
	required bool
	schema   *node
	at       *path
}

// parameters compares what is sent beside the body.
func (d *differ) parameters(before, after operation, sent bool) {
	old, now := d.parametersOf(before), d.parametersOf(after)
	for _, p := range old.order {
		if _, ok := now.known[p]; !ok {
			gone := old.known[p]
			d.tell(parameterRemoved, sent, gone.at, "the parameter %s (%s)", gone.name, gone.in)
		}
	}
	for _, key := range now.order {
		if d.done() {
			return
		}
		p := now.known[key]
		is, ok := old.known[key]
		switch {
		case !ok && p.required:
			d.tell(requiredParameterAdded, sent, p.at, "the parameter %s (%s)", p.name, p.in)
		case !ok:
			d.tell(parameterAdded, sent, p.at, "the parameter %s (%s)", p.name, p.in)
		case p.required && !is.required:
			d.tell(parameterBecameRequired, sent, p.at, "the parameter %s (%s)", p.name, p.in)
		case !p.required && is.required:
			d.tell(parameterBecameOptional, sent, p.at, "the parameter %s (%s)", p.name, p.in)
		}
		if ok {
			d.compare(is.schema, p.schema, sent, p.at)
		}
	}
}

type parameters struct {
	known map[string]parameter
	order []string
}

// parametersOf gives the parameters of an operation, of which those of its path are part. Those in the path are named by their place
// in it, so that another name is no change.
func (d *differ) parametersOf(o operation) parameters {
	all := parameters{known: map[string]parameter{}}
	variables := pathVariable.FindAllString(o.path, -1)
	for i, owner := range []*node{o.item, o.node} {
		list := owner.get("parameters")
		if list == nil || list.kind != '[' {
			continue
		}
		place := o.at
		if i == 0 {
			place = o.at.parent
		}
		for j, item := range list.items {
			n, at := d.resolve(o.root, item, place.to("parameters").item(j))
			in := n.get("in").str()
			if n == nil || in == "body" {
				continue
			}
			p := parameter{name: n.get("name").str(), in: in, required: isTrue(n.get("required")), schema: n.get("schema"), at: at}
			if p.schema == nil {
				p.schema = n // Swagger 2 has the members of a schema in the parameter itself.
				if content := n.get("content"); content != nil && len(content.items) == 1 {
					p.schema = content.items[0].get("schema")
				}
			}
			key := in + " " + p.name
			if index := slices.Index(variables, "{"+p.name+"}"); in == "path" && index >= 0 {
				key = in + " " + strconv.Itoa(index)
			}
			if _, ok := all.known[key]; !ok {
				all.order = append(all.order, key)
			}
			all.known[key] = p
		}
	}
	return all
}

// content is what a body may be, by media type.
type content struct {
	there, required bool
	types           []string
	schemas         map[string]*node
	at              *path
}

func (d *differ) body(before, after operation, sent bool) {
	old, now := d.bodyOf(before), d.bodyOf(after)
	switch {
	case !old.there && !now.there:
		return
	case !now.there:
		d.tell(bodyRemoved, sent, old.at, "the body")
	case !old.there && now.required:
		d.tell(requiredBodyAdded, sent, now.at, "the body")
	case !old.there:
		d.tell(bodyAdded, sent, now.at, "the body")
	case now.required && !old.required:
		d.tell(bodyBecameRequired, sent, now.at, "the body")
	case !now.required && old.required:
		d.tell(bodyBecameOptional, sent, now.at, "the body")
	}
	if old.there && now.there {
		d.content(old, now, sent, "requests")
	}
}

func (d *differ) bodyOf(o operation) content {
	if n := o.node.get("requestBody"); n != nil {
		body, at := d.resolve(o.root, n, o.at.to("requestBody"))
		c := contentOf(body, at)
		c.there, c.required = body != nil, isTrue(body.get("required"))
		return c
	}
	// Swagger 2 has the body among the parameters.
	for i, owner := range []*node{o.node, o.item} {
		list := owner.get("parameters")
		if list == nil || list.kind != '[' {
			continue
		}
		place := o.at
		if i == 1 {
			place = o.at.parent
		}
		for j, item := range list.items {
			if n, at := d.resolve(o.root, item, place.to("parameters").item(j)); n.get("in").str() == "body" {
				c := oneSchema(mediaTypes(o, "consumes"), n.get("schema"), at)
				c.there, c.required = true, isTrue(n.get("required"))
				return c
			}
		}
	}
	return content{}
}

// contentOf reads the media types of a body or a response from version 3 on.
func contentOf(n *node, at *path) content {
	c := content{schemas: map[string]*node{}, at: at}
	if types := n.get("content"); types != nil && types.kind == '{' {
		for i, name := range types.names {
			c.types = append(c.types, name)
			c.schemas[name] = types.items[i].get("schema")
		}
	}
	return c
}

// oneSchema is the content of Swagger 2, which has one schema for all media types.
func oneSchema(types []string, schema *node, at *path) content {
	c := content{types: types, schemas: map[string]*node{}, at: at}
	for _, name := range types {
		c.schemas[name] = schema
	}
	return c
}

func mediaTypes(o operation, member string) []string {
	list := o.node.get(member)
	if list == nil {
		list = o.root.get(member)
	}
	var types []string
	if list != nil && list.kind == '[' {
		for _, item := range list.items {
			types = append(types, item.str())
		}
	}
	if len(types) == 0 {
		types = []string{"application/json"}
	}
	return types
}

func (d *differ) content(old, now content, sent bool, of string) {
	for _, name := range old.types {
		if _, ok := now.schemas[name]; !ok {
			d.tell(mediaTypeRemoved, sent, old.at, "the media type %s of %s", name, of)
		}
	}
	for _, name := range now.types {
		if d.done() {
			return
		}
		was, ok := old.schemas[name]
		if !ok {
			d.tell(mediaTypeAdded, sent, now.at, "the media type %s of %s", name, of)
			continue
		}
		d.compare(was, now.schemas[name], sent, now.at.to("content").to(name).to("schema"))
	}
}

// responses compares what is answered.
func (d *differ) responses(before, after operation, sent bool) {
	old, now := before.node.get("responses"), after.node.get("responses")
	if old == nil || now == nil || old.kind != '{' || now.kind != '{' {
		return
	}
	for _, status := range old.names {
		if now.get(status) == nil && !strings.HasPrefix(status, "x-") {
			r := responseRemoved
			if strings.HasPrefix(status, "2") {
				r = successResponseRemoved
			}
			d.tell(r, sent, before.at.to("responses").to(status), "the response %s", status)
		}
	}
	for i, status := range now.names {
		if strings.HasPrefix(status, "x-") || d.done() {
			continue
		}
		place := after.at.to("responses").to(status)
		was := old.get(status)
		if was == nil {
			d.tell(responseAdded, sent, place, "the response %s", status)
			continue
		}
		one, onePlace := d.resolve(before.root, was, before.at.to("responses").to(status))
		two, twoPlace := d.resolve(after.root, now.items[i], place)
		if one == nil || two == nil {
			continue
		}
		d.content(responseContent(before, one, onePlace), responseContent(after, two, twoPlace), sent, "the response "+status)
	}
}

func responseContent(o operation, n *node, at *path) content {
	if schema := n.get("schema"); schema != nil {
		return oneSchema(mediaTypes(o, "produces"), schema, at)
	}
	return contentOf(n, at)
}
