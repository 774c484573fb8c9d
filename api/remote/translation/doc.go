// Package translation translates rich documents by segments. A segment is the text of one block, or another text of the
// block, such as the title of a tab. In a segment's notation, marks, links, code and other parts that must stay are
// numbered tags. A segment's key is a hash of all inputs of its translation. So a caller that stores translations by
// key pays for each translation only once. A change of the glossary changes only the keys of segments with the term.
//
// Places finds the segments of a document and replaces them by translations. Engine sends segments to a provider in
// bounded batches, and checks and repairs the translations. Providers are LibreTranslate and language models.
//
// The package stores nothing. Of this module it imports only schema, chat and provider.
package translation
