package intake

import (
	"strconv"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/schema/insights"
)

// These are the payload members of all event types. A member has the same meaning in every type that has it.
const (
	memberQuery = iota
	memberResult
	memberFeedback
	memberRating
	memberResponse
	memberLink
	memberOperation
	memberPlacement
	memberAd
	memberVariant
	memberSource
	memberResults
	memberSeconds
	memberDepth
	payloadMembers
)

var payloadNames = [payloadMembers]string{
	memberQuery: "query", memberResult: "result", memberFeedback: "feedback", memberRating: "rating",
	memberResponse: "responseId", memberLink: "link", memberOperation: "operation", memberPlacement: "placement",
	memberAd: "ad", memberVariant: "llmsVariant", memberSource: "markdownSource", memberResults: "resultsCount",
	memberSeconds: "seconds", memberDepth: "depth",
}

// payloadIndex returns a member's index by its name, or -1 for an unknown name.
func payloadIndex(name string) int {
	for i := range payloadNames {
		if payloadNames[i] == name {
			return i
		}
	}
	return -1
}

// payloadPart is one member of a type's payload.
type payloadPart struct {
	member   int
	optional bool
	read     func(*decoder) *insights.Refusal // read is called when the scanner is at a value that is not null
}

var (
	partQuery = payloadPart{member: memberQuery, read: func(d *decoder) *insights.Refusal {
		return d.str(&d.event.Query, "query", maxText)
	}}
	partResults = payloadPart{member: memberResults, optional: true, read: func(d *decoder) *insights.Refusal {
		return d.measured(&d.event.Results, "resultsCount", 0, insights.MaxResults)
	}}
	partLink      = payloadPart{member: memberLink, read: (*decoder).link}
	partOperation = payloadPart{member: memberOperation, read: (*decoder).operation}
	partAd        = payloadPart{member: memberAd, read: (*decoder).ad}
)

// payloads has the payload members of each event type, by type code: facts §3.4 and §10, and Octavo's own types. A type
// without a row has no payload. A file_download event has its file as a link, like link_click.
var payloads = byType(map[string][]payloadPart{
	"search_type_query":          {partQuery, partResults},
	"search_open_result":         {partQuery, partResults, {member: memberResult, read: (*decoder).result}},
	"page_post_feedback":         {{member: memberFeedback, read: func(d *decoder) *insights.Refusal { return d.feedback(false) }}},
	"page_post_feedback_comment": {{member: memberFeedback, read: func(d *decoder) *insights.Refusal { return d.feedback(true) }}},
	"ask_question":               {partQuery},
	"ask_rate_response": {partQuery, {member: memberRating, read: (*decoder).rating},
		{member: memberResponse, read: func(d *decoder) *insights.Refusal { return d.shortStr(&d.event.AskResponse, "responseId") }}},
	"link_click":         {partLink},
	"file_download":      {partLink},
	"api_client_open":    {partOperation},
	"api_client_request": {partOperation},
	"ad_click":           {partAd},
	"ad_display":         {partAd},
	"trademark_click": {{member: memberPlacement, read: func(d *decoder) *insights.Refusal {
		return d.enum(&d.event.TrademarkPlacement, insights.TrademarkPlacements, "placement")
	}}},
	"llms_request": {{member: memberVariant, read: func(d *decoder) *insights.Refusal {
		return d.enum(&d.event.LLMSVariant, insights.LLMSVariants, "llmsVariant")
	}}},
	"page_markdown_request": {{member: memberSource, optional: true, read: func(d *decoder) *insights.Refusal {
		return d.enum(&d.event.MarkdownSource, insights.MarkdownSources, "markdownSource")
	}}},
	"page_leave": {
		{member: memberSeconds, read: func(d *decoder) *insights.Refusal {
			return d.measured(&d.event.EngagedSeconds, "seconds", 0, insights.MaxEngagedSeconds)
		}},
		{member: memberDepth, optional: true, read: func(d *decoder) *insights.Refusal {
			return d.measured(&d.event.ScrollDepth, "depth", 0, insights.MaxScrollDepth)
		}},
	},
})

func byType(rows map[string][]payloadPart) [][]payloadPart {
	list := make([][]payloadPart, len(insights.EventTypes.Words())+1)
	for name, parts := range rows {
		code, ok := insights.EventTypes.Code(name)
		if !ok {
			panic("BUG: no event type " + name)
		}
		list[code] = parts
	}
	return list
}

// payload reads the type's members at the positions that decodeEvent has recorded.
func (d *decoder) payload() *insights.Refusal {
	end := d.pos
	for _, p := range payloads[d.event.Type] {
		d.pos = d.sent.payload[p.member]
		if d.pos == 0 {
			if p.optional {
				continue
			}
			return d.missing(payloadNames[p.member])
		}
		if err := p.read(d); err != nil {
			return err
		}
	}
	d.pos = end
	return nil
}

// members calls `each` for every member of an object. `each` must consume the member's value. `members` does not check
// the JSON syntax, so use it only in payloads, whose syntax payloadMember has checked.
func (d *decoder) members(field string, each func(d *decoder, name string) *insights.Refusal) *insights.Refusal {
	open, err := d.object(field)
	if !open {
		return err
	}
	for first := true; ; first = false {
		name, more, err := d.member(first)
		if !more {
			return err
		}
		if err := each(d, name); err != nil {
			return err
		}
	}
}

// ignore skips the value of an unknown member.
func (d *decoder) ignore() *insights.Refusal {
	if !d.skip(5) {
		return d.syntax("")
	}
	return nil
}

// requiredStr reads a string that a payload requires. It may be empty.
func (d *decoder) requiredStr(dst *string, field string, limit int) *insights.Refusal {
	if d.peek() == 'n' {
		return d.missing(field)
	}
	return d.str(dst, field, limit)
}

func (d *decoder) result() *insights.Refusal {
	err := d.members("result", func(d *decoder, name string) *insights.Refusal {
		switch name {
		case "spaceId":
			return d.shortStr(&d.event.ResultSpace, "result.spaceId")
		case "pageId":
			return d.shortStr(&d.event.ResultPage, "result.pageId")
		case "recordId":
			return d.shortStr(&d.event.ResultRecord, "result.recordId")
		}
		return d.ignore()
	})
	e := &d.event
	if err == nil && e.ResultRecord == "" && (e.ResultSpace == "" || e.ResultPage == "") {
		return d.fail(insights.MissingField, "result", "must have recordId, or spaceId and pageId")
	}
	return err
}

func (d *decoder) feedback(comment bool) *insights.Refusal {
	read := (*decoder).feedbackRating
	if comment {
		read = (*decoder).feedbackComment
	}
	if err := d.members("feedback", read); err != nil {
		return err
	}
	e := &d.event
	switch {
	case e.FeedbackRating == 0:
		return d.missing("feedback.rating")
	case comment && e.FeedbackComment == "":
		return d.missing("feedback.comment")
	case utf8.RuneCountInString(e.FeedbackComment) > maxComment:
		return d.fail(insights.TooLong, "feedback.comment", "must have at most "+itoa(maxComment)+" characters")
	}
	return nil
}

func (d *decoder) feedbackRating(name string) *insights.Refusal {
	if name == "rating" {
		return d.enum(&d.event.FeedbackRating, insights.FeedbackRatings, "feedback.rating")
	}
	return d.ignore()
}

func (d *decoder) feedbackComment(name string) *insights.Refusal {
	if name == "comment" {
		return d.nonEmpty(&d.event.FeedbackComment, "feedback.comment", 4*maxComment)
	}
	return d.feedbackRating(name)
}

func (d *decoder) rating() *insights.Refusal {
	const problem = "must be 1 or -1"
	if c := d.peek(); c != '-' && (c < '0' || c > '9') {
		return d.wrongType("rating", problem)
	}
	raw, ok := d.number()
	if !ok {
		return d.syntax("")
	}
	switch n, err := strconv.ParseFloat(raw, 64); {
	case err == nil && n == 1:
		d.event.AskRating = 1
	case err == nil && n == -1:
		d.event.AskRating = -1
	default:
		return d.fail(insights.InvalidField, "rating", problem)
	}
	return nil
}

func (d *decoder) operation() *insights.Refusal {
	var seen struct{ path, method bool }
	err := d.members("operation", func(d *decoder, name string) *insights.Refusal {
		switch name {
		case "path":
			seen.path = true
			return d.requiredStr(&d.event.OperationPath, "operation.path", maxText)
		case "method":
			seen.method = true
			return d.requiredStr(&d.event.OperationMethod, "operation.method", maxID)
		}
		return d.ignore()
	})
	switch {
	case err != nil:
		return err
	case !seen.path:
		return d.missing("operation.path")
	case !seen.method:
		return d.missing("operation.method")
	}
	return nil
}

func (d *decoder) ad() *insights.Refusal {
	var seen struct{ domain, zone bool }
	err := d.members("ad", func(d *decoder, name string) *insights.Refusal {
		switch name {
		case "domain":
			seen.domain = true
			return d.requiredStr(&d.event.AdDomain, "ad.domain", maxText)
		case "zoneId":
			seen.zone = true
			return d.requiredStr(&d.event.AdZone, "ad.zoneId", maxID)
		case "placement":
			return d.enum(&d.event.AdPlacement, insights.AdPlacements, "ad.placement")
		}
		return d.ignore()
	})
	switch {
	case err != nil:
		return err
	case !seen.domain:
		return d.missing("ad.domain")
	case !seen.zone:
		return d.missing("ad.zoneId")
	case d.event.AdPlacement == 0:
		return d.missing("ad.placement")
	}
	return nil
}
