// Package schema defines the resources of the API, with one file for each type. It also defines the errors, ids, roles
// and page tokens that the types share. The packages store, ingest, query and api all import it. So package schema does
// no I/O, and imports no other package of this module. The packages in its folders do no I/O either:
//
//	insights       visitor events: the column table, operators, reasons, the table's DDL, the log's encoding
//	sqltree        ClickHouse SQL as a tree
//	condition      the language of adaptive conditions
//	mergeexpr      the expressions of custom merge rules
//	section        ids of site sections
//	conversations  issues and clusters of conversations
//	fair           fair shares of limited resources
//	customization  the look of published sites: settings, overrides and their merge
//	discussion     comments and reviews
//	people         members, teams, invitations and single sign-on
//	content        documents and trees of pages: Markdown, merges, Git layouts, search words, PDF input
//	schematest     a document that tests share
package schema
