package openapi

// breaks says when a change breaks clients: those that did as the older version says, and find that the newer one refuses what they
// send, or answers what they do not know.
type breaks int

const (
	never breaks = iota
	always
	inRequests  // what clients send: it breaks if less is allowed
	inResponses // what clients receive: it breaks if more is possible
)

// rule is a kind of change: one row of changeRules.
type rule struct {
	kind   string
	breaks breaks
	// text completes the sentence "<what has changed> ...".
	text string
}

// The kinds of changes. Where it cannot be known whether clients mind, they do.
var (
	serverRemoved = &rule{"server-removed", always, "is no server any more"}
	serverAdded   = &rule{"server-added", never, "is a new server"}

	operationRemoved    = &rule{"operation-removed", always, "is gone"}
	operationAdded      = &rule{"operation-added", never, "is new"}
	operationDeprecated = &rule{"operation-deprecated", never, "is deprecated now"}

	securityAdded              = &rule{"security-added", always, "needs credentials now"}
	securityRemoved            = &rule{"security-removed", never, "needs no credentials any more"}
	securityAlternativeRemoved = &rule{"security-alternative-removed", always, "is not accepted as credentials any more"}
	securityAlternativeAdded   = &rule{"security-alternative-added", never, "is accepted as credentials now"}

	parameterRemoved        = &rule{"parameter-removed", always, "is gone"}
	parameterAdded          = &rule{"parameter-added", never, "is new"}
	requiredParameterAdded  = &rule{"required-parameter-added", always, "is new and required"}
	parameterBecameRequired = &rule{"parameter-became-required", always, "is required now"}
	parameterBecameOptional = &rule{"parameter-became-optional", never, "is optional now"}

	bodyRemoved        = &rule{"request-body-removed", always, "is gone"}
	bodyAdded          = &rule{"request-body-added", never, "is new"}
	requiredBodyAdded  = &rule{"required-request-body-added", always, "is new and required"}
	bodyBecameRequired = &rule{"request-body-became-required", always, "is required now"}
	bodyBecameOptional = &rule{"request-body-became-optional", never, "is optional now"}

	mediaTypeRemoved       = &rule{"media-type-removed", always, "is gone"}
	mediaTypeAdded         = &rule{"media-type-added", never, "is new"}
	successResponseRemoved = &rule{"success-response-removed", always, "is gone"}
	responseRemoved        = &rule{"response-removed", never, "is gone"}
	responseAdded          = &rule{"response-added", never, "is new"}

	typeChanged  = &rule{"type-changed", always, "has another type"}
	typeNarrowed = &rule{"type-narrowed", inRequests, "has fewer types"}
	typeWidened  = &rule{"type-widened", inResponses, "has more types"}

	propertyRemoved        = &rule{"property-removed", always, "is gone"}
	propertyAdded          = &rule{"property-added", never, "is new"}
	requiredPropertyAdded  = &rule{"required-property-added", inRequests, "is new and required"}
	propertyBecameRequired = &rule{"property-became-required", inRequests, "is required now"}
	propertyBecameOptional = &rule{"property-became-optional", inResponses, "is optional now"}

	valueRemoved = &rule{"value-removed", inRequests, "is no value any more"}
	valueAdded   = &rule{"value-added", inResponses, "is a new value"}

	limitNarrowed = &rule{"limit-narrowed", inRequests, "is narrower"}
	limitWidened  = &rule{"limit-widened", inResponses, "is wider"}

	formatChanged  = &rule{"format-changed", always, "has another format"}
	patternChanged = &rule{"pattern-changed", always, "has another pattern"}

	alternativeRemoved = &rule{"alternative-removed", inRequests, "is no alternative any more"}
	alternativeAdded   = &rule{"alternative-added", inResponses, "is a new alternative"}
	partAdded          = &rule{"part-added", inRequests, "has to be met as well"}
	partRemoved        = &rule{"part-removed", inResponses, "need not be met any more"}

	otherPropertiesForbidden = &rule{"other-properties-forbidden", inRequests, "has no other properties than those named"}
	otherPropertiesAllowed   = &rule{"other-properties-allowed", never, "has other properties than those named"}

	changeRules = []*rule{
		serverRemoved, serverAdded, operationRemoved, operationAdded, operationDeprecated,
		securityAdded, securityRemoved, securityAlternativeRemoved, securityAlternativeAdded,
		parameterRemoved, parameterAdded, requiredParameterAdded, parameterBecameRequired, parameterBecameOptional,
		bodyRemoved, bodyAdded, requiredBodyAdded, bodyBecameRequired, bodyBecameOptional,
		mediaTypeRemoved, mediaTypeAdded, successResponseRemoved, responseRemoved, responseAdded,
		typeChanged, typeNarrowed, typeWidened, propertyRemoved, propertyAdded, requiredPropertyAdded, propertyBecameRequired,
		propertyBecameOptional, valueRemoved, valueAdded, limitNarrowed, limitWidened, formatChanged, patternChanged,
		alternativeRemoved, alternativeAdded, partAdded, partRemoved, otherPropertiesForbidden, otherPropertiesAllowed,
	}
)

// ChangeKinds are the values of a change's kind.
func ChangeKinds() []string {
	var kinds []string
	for _, r := range changeRules {
		kinds = append(kinds, r.kind)
	}
	return kinds
}

// schemaLimits are the bounds of schemas by their keywords, and whether a larger number allows more.
var schemaLimits = []struct {
	keyword string
	upper   bool
}{
	{"maximum", true}, {"minimum", false}, {"exclusiveMaximum", true}, {"exclusiveMinimum", false}, {"maxLength", true}, {"minLength", false},
	{"maxItems", true}, {"minItems", false}, {"maxProperties", true}, {"minProperties", false},
}
