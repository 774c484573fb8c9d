package api

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"

	"github.com/octavo-docs/octavo/api/apps"
	"github.com/octavo-docs/octavo/api/content"
	"github.com/octavo-docs/octavo/api/dashboard"
	"github.com/octavo-docs/octavo/api/dnsproof"
	"github.com/octavo-docs/octavo/api/docs"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/openapi"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/insights"
	"github.com/octavo-docs/octavo/api/jobs"
	"github.com/octavo-docs/octavo/api/mergerules"
	"github.com/octavo-docs/octavo/api/orgs"
	"github.com/octavo-docs/octavo/api/remote/outbound"
	"github.com/octavo-docs/octavo/api/sites"
	"github.com/octavo-docs/octavo/api/tracker"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/condition"
	"github.com/octavo-docs/octavo/store"
)

// table returns the table of all operations, with one line for each domain.
func table(d Deps, v view.Presenter) frame.Table {
	files := tracker.Files()
	return frame.Join(
		frame.Table{
			Vocabularies: []rules.Vocabulary{sharedVocabulary, reachable(d.Outbound), mergerules.Vocabulary},
			Files:        files,
		},
		orgs.Table(d.Store, v, d.Resolver, d.SSO),
		sites.Table(d.Store, v, d.Resolver, d.FrontEnds),
		content.Table(d.Store, v, d.Outbound),
		apps.Table(d.Store, v),
		dashboard.Table(d.Store, v.URLs),
		insights.Table(d.Intake, d.Insights, d.Balances, d.Erasures, d.Metrics, d.Store, v.URLs,
			files, d.Outbound),
	)
}

// sharedVocabulary defines the enums and patterns that the rules of several domains use.
var sharedVocabulary = rules.Vocabulary{
	Enums: map[string][]string{
		"role":     schema.RoleNames(),
		"level":    schema.LevelNames(),
		"language": schema.Languages(),
		"jobKind":  jobs.Names(),
	},
	Patterns: map[string]rules.Pattern{
		"condition": {Match: condition.ValidOrEmpty, Problem: "is no condition"},
	},
}

// reachable returns the vocabulary with the form of addresses that the server may call. `policy` decides which hosts
// are allowed.
func reachable(policy outbound.Policy) rules.Vocabulary {
	return rules.Vocabulary{Patterns: map[string]rules.Pattern{
		"reachableURL": {
			Match: func(text string) bool {
				u, err := url.Parse(text)
				return err == nil && u.User == nil && u.Fragment == "" && policy.PermitsURL(text)
			},
			Problem: "must be an absolute http or https URL without user, password and fragment, of a host that is not on a private network, with the port 80, 443 or one above 1023",
			Regexp:  rules.HTTPURL, Not: schema.LinkLoginNot, Format: "uri",
		},
	}}
}

// Table returns the table of operations without the dependencies of the operations. Generated documents and tests read
// it.
func Table() frame.Table { return table(Deps{}, view.Presenter{}) }

// OpenAPI returns the OpenAPI 3.1 document of the API, for a server at baseURL.
func OpenAPI(baseURL string) ([]byte, error) { return openapi.Document(Table(), baseURL) }

// Deps are the dependencies of the operations. Resolver, Outbound, FrontEnds, SSO and Checks are optional.
type Deps struct {
	Store    *store.Store
	Intake   insights.EventIntake
	Insights insights.Insights
	Balances insights.EventBalances
	Erasures insights.VisitorErasures
	Metrics  frame.Metrics
	Log      *slog.Logger
	// Resolver looks up the records that prove e-mail domains and sites' host names; nil means the host's resolver.
	Resolver dnsproof.Resolver
	// Outbound decides which hosts the server may call at the request of users. The zero Policy allows the hosts of the
	// public network.
	Outbound outbound.Policy
	// FrontEnds are the addresses of front ends that show sites to readers.
	FrontEnds []*url.URL
	// SSO has the settings of logins by SAML. Zero values mean the defaults.
	SSO orgs.SSO
	// Checks are the readiness checks that /readyz runs.
	Checks []frame.Check
}

// New builds a server. It returns an error for an invalid table or setting. It opens no connection.
func New(cfg frame.Config, d Deps) (*frame.Server, error) { return NewWith(cfg, d, frame.Table{}) }

// NewWith is like New, with the additional table `more`. Tests of the frame use it.
func NewWith(cfg frame.Config, d Deps, more frame.Table) (*frame.Server, error) {
	if d.Store == nil || d.Intake == nil || d.Insights == nil || d.Balances == nil || d.Erasures == nil || d.Metrics == nil || d.Log == nil {
		return nil, errors.New("cannot build api: store, intake, insights, balances, erasures, metrics and log are required")
	}
	if d.Resolver == nil {
		d.Resolver = net.DefaultResolver
	}
	urls, err := schema.NewURLs(cfg.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("cannot build api: %w", err)
	}
	all := frame.Join(table(d, view.Presenter{URLs: urls}), more)
	describe := func() ([]byte, error) { return openapi.Document(all, cfg.BaseURL) }
	all.Pages = docs.Pages(all, describe)
	return frame.New(cfg, frame.Deps{Store: d.Store, Metrics: d.Metrics, Log: d.Log, Checks: d.Checks}, all, describe)
}

// NewWithoutOperations builds the server of a node that has only health checks. It uses only Store, Metrics and Log of
// `d`.
func NewWithoutOperations(cfg frame.Config, d Deps) (*frame.Server, error) {
	if d.Store == nil || d.Metrics == nil || d.Log == nil {
		return nil, errors.New("cannot build api: store, metrics and log are required")
	}
	return frame.New(cfg, frame.Deps{Store: d.Store, Metrics: d.Metrics, Log: d.Log, Checks: d.Checks}, frame.Table{}, nil)
}
