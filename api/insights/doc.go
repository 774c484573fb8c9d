// Package insights has the operations on a site's events. Events, questions and balances go through the interfaces that it
// declares, which cmd implements: it must not import ingest, and imports query only for the words that describe questions.
//
// Like every domain it imports the frame and access, and no other domain.
package insights
