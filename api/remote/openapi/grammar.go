package openapi

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// grammar defines the objects of a version of OpenAPI. Each line of its text is a kind of object with its members. The
// type of a member is a kind, or string, bool, number or any. []x is an array of x. {}x is an object with any names,
// whose values are x. {x}x is also such an object, but its members whose names begin with x- are extensions. =a,b is
// one of the texts a and b. x|y is x or y. A member that ends with ! is required. If a kind ends with *, a reference
// may replace the object. If a kind ends with ?, a boolean may replace the object.
//
// The checker ignores members that the grammar does not list. Such members are extensions, or members of later
// versions.
type grammar map[string]*object

type object struct {
	reference bool // whether a reference may replace the object
	siblings  bool // whether a reference may have other members next to it
	boolean   bool // whether a boolean may replace the object
	// home is the JSON pointer of an object in the specification. Imported parts of this kind are added to this object.
	home    []string
	members map[string]shape
	// required has the members that must be present, in the order of the line.
	required []string
	// others is the shape of the members with free names. It is nil if objects of this kind have no such members. If
	// `open` is true, members whose names begin with x- are extensions and are not checked.
	others *shape
	open   bool
}

// shape is the form of a value. Exactly one of the members that describe a form is set.
type shape struct {
	scalar string   // string, bool, number or any
	values []string // the value is one of these texts
	kind   string   // the value is an object of this kind
	array  *shape
	object *shape
	names  bool // in an object, members whose names begin with x- are extensions
	either []shape
}

const (
	scalarString = "string"
	scalarBool   = "bool"
	scalarNumber = "number"
	scalarAny    = "any"
)

// sharedKinds has the kinds that several versions of OpenAPI share.
const sharedKinds = `
info title!:string version!:string description:string termsOfService:string contact:contact license:license
contact name:string url:string email:string
license name!:string url:string
docs url!:string description:string
tag name!:string description:string externalDocs:docs
requirement {}[]string
`

const grammar2Text = sharedKinds + `
document swagger!:string info!:info host:string basePath:string schemes:[]string consumes:[]string produces:[]string paths!:paths definitions:{}schema parameters:{}parameter responses:{}response securityDefinitions:{}securityScheme security:[]requirement tags:[]tag externalDocs:docs
paths {x}pathItem
pathItem* get:operation put:operation post:operation delete:operation options:operation head:operation patch:operation parameters:[]parameter
operation responses!:responses tags:[]string summary:string description:string externalDocs:docs operationId:string consumes:[]string produces:[]string parameters:[]parameter schemes:[]string deprecated:bool security:[]requirement
responses {x}response
response* description!:string schema:schema headers:{}header examples:any
parameter* name!:string in!:=query,header,path,formData,body description:string required:bool schema:schema type:string format:string allowEmptyValue:bool items:items collectionFormat:string enum:[]any
header type!:string description:string format:string items:items enum:[]any
items type:string format:string items:items collectionFormat:string enum:[]any
schema* type:string|[]string title:string description:string format:string required:[]string enum:[]any properties:{}schema additionalProperties:bool|schema items:schema|[]schema allOf:[]schema discriminator:string readOnly:bool externalDocs:docs maximum:number minimum:number exclusiveMaximum:bool exclusiveMinimum:bool maxLength:number minLength:number pattern:string maxItems:number minItems:number uniqueItems:bool maxProperties:number minProperties:number multipleOf:number
securityScheme type!:=basic,apiKey,oauth2 description:string name:string in:string flow:string authorizationUrl:string tokenUrl:string scopes:{}string
`

const grammar30Text = sharedKinds + `
document openapi!:string info!:info servers:[]server paths!:paths components:components security:[]requirement tags:[]tag externalDocs:docs
server url!:string description:string variables:{}variable
variable default!:string enum:[]string description:string
paths {x}pathItem
pathItem* summary:string description:string get:operation put:operation post:operation delete:operation options:operation head:operation patch:operation trace:operation servers:[]server parameters:[]parameter
operation responses!:responses tags:[]string summary:string description:string externalDocs:docs operationId:string parameters:[]parameter requestBody:requestBody callbacks:{}callback deprecated:bool security:[]requirement servers:[]server
responses {x}response
response* description!:string headers:{}header content:{}mediaType links:{}link
parameter* name!:string in!:=query,header,path,cookie description:string required:bool deprecated:bool allowEmptyValue:bool style:string explode:bool allowReserved:bool schema:schema examples:{}example content:{}mediaType
header* description:string required:bool deprecated:bool style:string explode:bool schema:schema examples:{}example content:{}mediaType
requestBody* content!:{}mediaType description:string required:bool
mediaType schema:schema examples:{}example encoding:{}encoding
encoding contentType:string headers:{}header style:string explode:bool allowReserved:bool
callback* {x}pathItem
example* summary:string description:string externalValue:string
link* operationRef:string operationId:string parameters:{}any description:string server:server
components schemas:{}schema responses:{}response parameters:{}parameter examples:{}example requestBodies:{}requestBody headers:{}header securitySchemes:{}securityScheme links:{}link callbacks:{}callback
schema* type:string title:string description:string format:string required:[]string enum:[]any properties:{}schema additionalProperties:bool|schema items:schema allOf:[]schema oneOf:[]schema anyOf:[]schema not:schema nullable:bool discriminator:discriminator readOnly:bool writeOnly:bool deprecated:bool externalDocs:docs maximum:number minimum:number exclusiveMaximum:bool exclusiveMinimum:bool maxLength:number minLength:number pattern:string maxItems:number minItems:number uniqueItems:bool maxProperties:number minProperties:number multipleOf:number
discriminator propertyName!:string mapping:mapping
mapping {}string
securityScheme* type!:=apiKey,http,oauth2,openIdConnect description:string name:string in:=query,header,cookie scheme:string bearerFormat:string flows:flows openIdConnectUrl:string
flows implicit:flow password:flow clientCredentials:flow authorizationCode:flow
flow scopes!:{}string authorizationUrl:string tokenUrl:string refreshUrl:string
`

// grammar31Text has the differences of version 3.1 and later versions. Each line replaces the line of version 3.0 for
// the same kind.
const grammar31Text = `
document openapi!:string info!:info jsonSchemaDialect:string servers:[]server paths:paths webhooks:{}pathItem components:components security:[]requirement tags:[]tag externalDocs:docs
pathItem* summary:string description:string get:operation put:operation post:operation delete:operation options:operation head:operation patch:operation trace:operation query:operation additionalOperations:{}operation servers:[]server parameters:[]parameter
operation responses:responses tags:[]string summary:string description:string externalDocs:docs operationId:string parameters:[]parameter requestBody:requestBody callbacks:{}callback deprecated:bool security:[]requirement servers:[]server
parameter* name!:string in!:=query,header,path,cookie,querystring description:string required:bool deprecated:bool allowEmptyValue:bool style:string explode:bool allowReserved:bool schema:schema examples:{}example content:{}mediaType
mediaType* schema:schema itemSchema:schema examples:{}example encoding:{}encoding
components schemas:{}schema responses:{}response parameters:{}parameter examples:{}example requestBodies:{}requestBody headers:{}header securitySchemes:{}securityScheme links:{}link callbacks:{}callback pathItems:{}pathItem mediaTypes:{}mediaType
schema*? type:string|[]string title:string description:string format:string required:[]string enum:[]any properties:{}schema patternProperties:{}schema additionalProperties:schema unevaluatedProperties:schema propertyNames:schema dependentSchemas:{}schema items:schema prefixItems:[]schema contains:schema unevaluatedItems:schema allOf:[]schema oneOf:[]schema anyOf:[]schema not:schema if:schema then:schema else:schema contentSchema:schema $defs:{}schema definitions:{}schema discriminator:discriminator readOnly:bool writeOnly:bool deprecated:bool externalDocs:docs maximum:number minimum:number exclusiveMaximum:number exclusiveMinimum:number maxLength:number minLength:number pattern:string maxItems:number minItems:number uniqueItems:bool maxProperties:number minProperties:number multipleOf:number
securityScheme* type!:=apiKey,http,oauth2,openIdConnect,mutualTLS description:string name:string in:=query,header,cookie scheme:string bearerFormat:string flows:flows openIdConnectUrl:string
flows implicit:flow password:flow clientCredentials:flow authorizationCode:flow deviceAuthorization:flow
`

// foreign is the member that contains imported parts for which OpenAPI has no place.
const foreign = "x-bundled"

var (
	homes2 = map[string][]string{"schema": {"definitions"}, "parameter": {"parameters"}, "response": {"responses"}}
	homes3 = map[string][]string{
		"schema": {"components", "schemas"}, "response": {"components", "responses"}, "parameter": {"components", "parameters"},
		"example": {"components", "examples"}, "requestBody": {"components", "requestBodies"}, "header": {"components", "headers"},
		"securityScheme": {"components", "securitySchemes"}, "link": {"components", "links"}, "callback": {"components", "callbacks"},
	}
	homes31 = func() map[string][]string {
		homes := maps.Clone(homes3)
		homes["pathItem"] = []string{"components", "pathItems"}
		return homes
	}()

	grammar2  = parseGrammar(grammar2Text, homes2, false)
	grammar30 = parseGrammar(grammar30Text, homes3, false)
	grammar31 = parseGrammar(grammar30Text+grammar31Text, homes31, true)
)

var version3 = regexp.MustCompile(`^3\.(0|[1-9]\d*)(\.\d+)?(-.+)?$`)

// grammarOf returns the grammar for a document's version. It returns nil if the document does not state a known
// version.
func grammarOf(document *node) grammar {
	if document.get("swagger").str() == "2.0" {
		return grammar2
	}
	found := version3.FindStringSubmatch(document.get("openapi").str())
	switch {
	case found == nil:
		return nil
	case found[1] == "0":
		return grammar30
	default:
		return grammar31
	}
}

// parseGrammar reads the text of a grammar. If a kind has several lines, the last line applies. `later` is true for
// version 3.1 and later versions. References of all kinds may then have siblings. References to path items may have
// siblings in all versions.
func parseGrammar(text string, homes map[string][]string, later bool) grammar {
	g := grammar{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		kind := strings.TrimRight(fields[0], "*?")
		marks := fields[0][len(kind):]
		o := &object{
			reference: strings.Contains(marks, "*"), boolean: strings.Contains(marks, "?"),
			siblings: kind == "pathItem" || kind == "schema" && later, home: homes[kind], members: map[string]shape{},
		}
		if o.home == nil {
			o.home = []string{foreign}
		}
		for _, field := range fields[1:] {
			name, of, named := strings.Cut(field, ":")
			if !named {
				all := parseShape(field)
				o.others, o.open = all.object, all.names
				continue
			}
			plain, required := strings.CutSuffix(name, "!")
			if required {
				o.required = append(o.required, plain)
			}
			o.members[plain] = parseShape(of)
		}
		g[kind] = o
	}
	return g
}

func parseShape(text string) shape {
	if alternatives := strings.Split(text, "|"); len(alternatives) > 1 {
		var s shape
		for _, alternative := range alternatives {
			s.either = append(s.either, parseShape(alternative))
		}
		return s
	}
	if values, ok := strings.CutPrefix(text, "="); ok {
		return shape{values: strings.Split(values, ",")}
	}
	for prefix, wrap := range map[string]func(shape) shape{
		"[]":  func(of shape) shape { return shape{array: &of} },
		"{}":  func(of shape) shape { return shape{object: &of} },
		"{x}": func(of shape) shape { return shape{object: &of, names: true} },
	} {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			return wrap(parseShape(rest))
		}
	}
	if slices.Contains([]string{scalarString, scalarBool, scalarNumber, scalarAny}, text) {
		return shape{scalar: text}
	}
	return shape{kind: text}
}
