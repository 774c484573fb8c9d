// Package remote is empty. The packages in the folders below it are clients of other hosts. They do not depend on
// Octavo's objects, such as spaces and sites:
//
//	outbound      the only way to hosts that users name
//	provider      services that the operator names
//	chat          chat completions of language models
//	refining      titles and summaries of clusters by a language model
//	translation   segments of documents, and their translators
//	gitsync       files from and to Git repositories over http
//	openapi       OpenAPI specifications, from texts and URLs
//	embed         titles of pages on the web
//	pagecheck     scripts of pages on the web, and what refuses them
//	mail          mails through an SMTP server
//	webhooks      signed messages to organizations' receivers
//	tunnel        events to integrations in development
//	revalidation  tells front ends what has changed
package remote
