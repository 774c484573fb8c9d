package api

import (
	"errors"
	"fmt"
	"log/slog"
	"net"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/condition"
	"github.com/octavo-docs/octavo/store"
)

// table is the contract: a line per domain, each of which holds its own rows.
func table(d Deps, v links) Table {
	return JoinTables(
		Table{Vocabularies: []Vocabulary{sharedVocabulary, mergeRulesVocabulary}},
		orgsTable(d.Store, v, d.Resolver),
		sitesTable(d.Store, v),
		contentTable(d.Store, v),
		appsTable(d.Store, v),
		insightsTable(d.Intake, d.Insights, d.Balances),
	)
}

// sharedVocabulary is what names mean that operations of several domains use.
var sharedVocabulary = Vocabulary{
	Enums: map[string][]string{
		"role":     schema.RoleNames(),
		"level":    schema.LevelNames(),
		"language": schema.Languages(),
	},
	Patterns: map[string]Pattern{
		"condition": {Match: condition.ValidOrEmpty, Problem: "is no condition"},
	},
}

// TheTable gives the table without a server behind it, for the documents that are made of it.
func TheTable() Table { return table(Deps{}, links{}) }

// OpenAPI is the OpenAPI 3.1 document of the table, for a server at baseURL.
func OpenAPI(baseURL string) ([]byte, error) { return openAPI(TheTable(), baseURL) }

// Deps are the parts that the operations stand on. All but Resolver and Checks are required.
type Deps struct {
	Store    *store.Store
	Intake   EventIntake
	Insights Insights
	Balances EventBalances
	Metrics  Metrics
	Log      *slog.Logger
	// Resolver looks up the records that prove e-mail domains; nil is the host's.
	Resolver TXTResolver
	// Checks are run by /readyz.
	Checks []Check
}

// New builds a server and refuses a table or a setting that is wrong; it opens nothing.
func New(cfg Config, d Deps) (*Server, error) { return NewWith(cfg, d, Table{}) }

// NewWith is New with more rows beside those of the contract, for tests of the frame.
func NewWith(cfg Config, d Deps, more Table) (*Server, error) {
	if d.Store == nil || d.Intake == nil || d.Insights == nil || d.Balances == nil || d.Metrics == nil || d.Log == nil {
		return nil, errors.New("cannot build api: store, intake, insights, balances, metrics and log are required")
	}
	if d.Resolver == nil {
		d.Resolver = net.DefaultResolver
	}
	urls, err := schema.NewURLs(cfg.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("cannot build api: %w", err)
	}
	all := JoinTables(table(d, links{urls}), more)
	document, err := openAPI(all, cfg.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("cannot build api: cannot describe the table: %w", err)
	}
	return newServer(cfg, frameDeps{Store: d.Store, Metrics: d.Metrics, Log: d.Log, Checks: d.Checks}, all, document)
}

// NewWithoutOperations builds the server of a node that answers nothing of the contract: it serves health and
// readiness. Of the dependencies it needs neither intake nor insights.
func NewWithoutOperations(cfg Config, d Deps) (*Server, error) {
	if d.Store == nil || d.Metrics == nil || d.Log == nil {
		return nil, errors.New("cannot build api: store, metrics and log are required")
	}
	return newServer(cfg, frameDeps{Store: d.Store, Metrics: d.Metrics, Log: d.Log, Checks: d.Checks}, Table{}, nil)
}
