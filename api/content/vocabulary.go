package content

import (
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/remote/outbound"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/merge"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/schema/discussion"
)

// vocabulary returns the names that only the rules of these operations use. The policy `repositories` decides on which
// hosts repositories may be.
func vocabulary(repositories outbound.Policy) rules.Vocabulary {
	return rules.Vocabulary{
		Enums: map[string][]string{
			"editMode":                    schema.EditModes(),
			"format":                      {"document", "markdown"},
			"evaluated":                   {"true", "false", "deterministic-only"},
			"dereferenced":                {"true", "false", "reusable-contents"},
			"documentSchema":              {"current", "next"},
			"markdownRefs":                {refsRelative, refsStable},
			"pointerType":                 {"space", "collection"},
			"pageKind":                    tree.Kinds(),
			"contentOperation":            contentOperationNames(),
			"revisionType":                schema.RevisionTypes(),
			"embedType":                   {schema.EmbedLink},
			"revisionChangeType":          schema.RevisionChangeTypes(),
			"changeRequestStatus":         schema.ChangeRequestStatuses(),
			"settableChangeRequestStatus": schema.SettableChangeRequestStatuses(),
			"changeRequestOrder":          {orderByUpdate, orderByCreation},
			"conflictKind":                merge.Kinds(),
			"conflictStatus":              schema.ConflictStatuses(),
			"conflictFilter":              append([]string{"all"}, schema.ConflictStatuses()...),
			"conflictTake":                schema.ConflictTakes(),
			"mergeResult":                 schema.MergeResults(),
			"commentStatus":               discussion.CommentStatuses(),
			"commentFilter":               append([]string{"all"}, discussion.CommentStatuses()...),
			"reviewStatus":                schema.ReviewStatuses(),
			"translationStatus":           schema.TranslationStatuses(),
			"translationRunState":         schema.TranslationRunStates(),
			"translationReportKind":       schema.TranslationReportKinds(),
			"glossaryOperation":           schema.GlossaryOperations(),
			"searchRestriction":           {searchCurrentOnly, searchOthers},
			"searchResultType":            {"space"},
			"searchMode":                  {searchCurrent, searchSpecific, searchAll},
			"searchScopeMode":             {searchDefault, searchSpecific, searchAll},
		},
		Patterns: map[string]rules.Pattern{
			"pageSlug": {Match: tree.ValidSlug, Problem: "must be usable in a path: without spaces, slashes, ?, # and %", Regexp: `^[^\s/?#%\\]*$`},
			"emoji":    {Match: isEmoji, Problem: "must be an emoji, as characters or as their code points in hexadecimal"},
			"gitRef":   rules.MatchingBut(`^refs/heads/`, badBranchRef, "must be refs/heads/ and the name of a branch"),
			"repositoryURL": {
				Match:   repositories.PermitsURL,
				Problem: "must be an http or https URL of a host that is not on a private network, with the port 80, 443 or one above 1023 for HTTP", Regexp: rules.HTTPURL, Format: "uri",
			},
		},
	}
}

// badBranchRef matches names of branches that git-check-ref-format refuses:
// https://git-scm.com/docs/git-check-ref-format.
const badBranchRef = `[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|/$|\.$|\.lock(?:/|$)|^refs/heads/@$`
